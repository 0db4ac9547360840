import Testing

@testable import ByteClubCLI

@Suite struct TableTests {
    @Test("columns line up, also with wide letters, and no line ends in a blank")
    func columns() {
        var table = Table(.left, .right, .left)
        table.rows = [["trip.md", "1.5 KB", "2026-11-21 02:08"], ["山.md", "27 bytes", ""], ["a", "0 bytes", "x"]]
        #expect(
            table.text == """
                trip.md    1.5 KB  2026-11-21 02:08
                山.md    27 bytes
                a         0 bytes  x
                """)
    }

    @Test("a name cannot speak to the terminal")
    func escapes() {
        var table = Table(.left)
        table.rows = [["a\u{1B}[31m\u{9B}b\u{7}"]]
        #expect(table.text == "a^[[31m<U+009B>b^G")
    }

    @Test(
        "a long text keeps its two ends",
        arguments: [("abcdefghij", 5, "ab…ij"), ("abc", 3, "abc"), ("abcdef", 1, "…")])
    func shortened(_ text: String, _ width: Int, _ expected: String) {
        #expect(DisplayWidth.shortened(text, to: width) == expected)
    }
}

import ByteClubCore
import Testing

@testable import ByteClubCLI

@Suite struct TableTests {
    private static func table() -> TextTable {
        var table = TextTable(
            .init("NAME", isShortened: true), .init("SIZE", .right, rank: 2), .init("CHANGED", rank: 1))
        table.rows = [["trip.md", "1.5 KB", "2026-11-21 02:08"], ["山.md", "27 bytes", ""], ["a", "0 bytes", "x"]]
        return table
    }

    @Test("columns line up below their titles, also with wide letters, and no line ends in a blank")
    func columns() {
        #expect(
            Self.table().list(in: 80) == """
                NAME         SIZE  CHANGED
                trip.md    1.5 KB  2026-11-21 02:08
                山.md    27 bytes
                a         0 bytes  x
                """)
        #expect(Self.table().list(in: nil) == "trip.md\t1.5 KB\t2026-11-21 02:08\n山.md\t27 bytes\t\na\t0 bytes\tx")
    }

    @Test("a narrow terminal shortens what may be shortened, then leaves out what matters least, and no line is wider")
    func narrow() {
        var table = Self.table()
        table.rows.append([String(repeating: "n", count: 300), "1 byte", "2026-11-21 02:08"])
        for width in 1...120 {
            for line in table.list(in: width).split(separator: "\n") {
                #expect(DisplayWidth.of(String(line)) <= width, "\(width): \(line)")
            }
        }
        #expect(table.list(in: 38).contains("SIZE") && table.list(in: 38).contains("CHANGED"))
        #expect(!table.list(in: 37).contains("SIZE") && table.list(in: 37).contains("CHANGED"))
        #expect(table.list(in: 25).split(separator: "\n").first == "NAME")
    }

    @Test("a long fact goes on below itself, and a word that is too long is broken, not lost")
    func facts() {
        var table = TextTable(.init(), .init())
        table.rows = [["disk", "one two three four five six seven"], ["hash", String(repeating: "9", count: 50)]]
        #expect(
            table.facts(in: 30) == """
                disk  one two three four five
                      six seven
                hash  999999999999999999999999
                      999999999999999999999999
                      99
                """)
        #expect(LineWrap.wrapped("a \u{1B}[1mbold word\u{1B}[0m", to: 11) == "a \u{1B}[1mbold word\u{1B}[0m")
        #expect(LineWrap.wrapped("abc defgh", to: 5) == "abc\ndefgh")
    }

    @Test("a name cannot speak to the terminal")
    func escapes() {
        var table = TextTable(.init())
        table.rows = [["a\u{1B}[31m\u{9B}b\u{7}"]]
        #expect(table.list(in: 80) == "\na^[[31m<U+009B>b^G")
        #expect(table.facts(in: nil) == "a^[[31m<U+009B>b^G")
    }

    @Test(
        "a long text keeps its two ends",
        arguments: [("abcdefghij", 5, "ab…ij"), ("abc", 3, "abc"), ("abcdef", 1, "…")])
    func shortened(_ text: String, _ width: Int, _ expected: String) {
        #expect(DisplayWidth.shortened(text, to: width) == expected)
    }
}

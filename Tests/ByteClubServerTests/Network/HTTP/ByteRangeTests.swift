import Testing

@testable import ByteClubServer

@Suite struct ByteRangeTests {
    @Test(
        "one range is a part, what is malformed or several is the whole, what lies beyond is refused",
        arguments: [
            (nil, .whole), ("bytes=0-0", .part(0..<1)), ("bytes=2-5", .part(2..<6)), ("bytes=2-", .part(2..<10)),
            ("bytes=-3", .part(7..<10)), ("bytes=-99", .part(0..<10)), ("bytes=8-99", .part(8..<10)),
            ("bytes=10-", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("bytes=5-2", .whole),
            ("bytes=0-1,3-4", .whole), ("items=0-1", .whole), ("bytes=a-b", .whole), ("bytes=-", .whole),
            ("bytes=0-99999999999999999999999", .part(0..<10)), ("bytes=99999999999999999999999-", .unsatisfiable),
        ] as [(String?, ByteRange)])
    func reading(header: String?, expected: ByteRange) {
        #expect(ByteRange(header, length: 10) == expected)
    }

    @Test("nothing of an empty file can be asked for")
    func empty() {
        #expect(ByteRange("bytes=0-", length: 0) == .unsatisfiable)
        #expect(ByteRange("bytes=-5", length: 0) == .unsatisfiable)
        #expect(ByteRange(nil, length: 0) == .whole)
    }
}

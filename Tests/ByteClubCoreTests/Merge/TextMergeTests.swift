import ByteClubCore
import TestSupport
import Testing

@Suite struct TextMergeTests {
    private static func merge(_ base: String, _ mine: String, _ theirs: String) -> String? {
        let one = TextMerge.merge(base: Array(base.utf8), mine: Array(mine.utf8), theirs: Array(theirs.utf8))
        let other = TextMerge.merge(base: Array(base.utf8), mine: Array(theirs.utf8), theirs: Array(mine.utf8))
        #expect(one == other, "the sides' order counts")
        return one.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "changes that do not touch are both in the result",
        arguments: [
            ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"), ("a\nb\nc\n", "b\nc\n", "a\nb\n", "b\n"),
            ("a\nb\nc", "x\na\nb\nc", "a\nb\nc\nd", "x\na\nb\nc\nd"),
            ("a\r\nb\r\nc", "A\r\nb\r\nc", "a\r\nb\r\n", "A\r\nb\r\n"),
            ("a\nb\nc\n", "a\r\nb\nc\n", "a\nb\nc", "a\r\nb\nc"),
            ("a\n\nb\n", "A\n\nb\n", "a\n\nx\n\nb\n", "A\n\nx\n\nb\n"),
            ("a\n\nb\n", "a\n\nB\n", "a\n\nx\n\nb\n", "a\n\nx\n\nB\n"), ("x\nx\nx\n", "x\nx\n", "x\nx\ny\n", "x\ny\n"),
            ("a\nb\nc\n", "A\nb\nC\n", "A\nb\nc\nd\ne\n", nil), ("é\nb\nc\n", "é\nb\nc😀\n", "e\nb\nc\n", "e\nb\nc😀\n"),
        ] as [(String, String, String, String?)])
    func clean(base: String, mine: String, theirs: String, merged: String?) {
        #expect(Self.merge(base, mine, theirs) == merged)
    }

    @Test(
        "the same change on both sides is one change",
        arguments: [
            ("a\nb\n", "a\nx\nb\n", "a\nx\nb\n", "a\nx\nb\n"), ("", "a", "a", "a"), ("a\n", "", "", ""),
            ("a\nb\nc\n", "A\nb\nc\n", "A\nb\nC\n", "A\nb\nC\n"), ("a\nb\nc\nd\n", "a\nd\n", "a\nd\ne\n", "a\nd\ne\n"),
        ])
    func same(base: String, mine: String, theirs: String, merged: String) {
        #expect(Self.merge(base, mine, theirs) == merged)
    }

    @Test(
        "changes that touch are a conflict",
        arguments: [
            ("a\n", "b\n", "c\n"), ("a\nb\n", "A\nb\n", "a\nB\n"), ("", "a\n", "b\n"), ("a\n", "a\nb\n", "a\nc\n"),
            ("a\nb\n", "", "a\nB\n"), ("a", "a\n", "b"), ("a\nb\n", "a\nx\nb\n", "A\nb\n"),
            ("a\n\nb\n", "a\n\nx\n\nb\n", "a\n\ny\n\nb\n"), ("a\nb\nc\n", "c\n", "a\nB\nc\n"),
        ])
    func conflict(base: String, mine: String, theirs: String) {
        #expect(Self.merge(base, mine, theirs) == nil)
    }

    @Test("what is not a text of at most a mebibyte is not merged")
    func refused() {
        let (text, long) = (Array("a\nb\nc\n".utf8), [UInt8](repeating: 10, count: TextMerge.limit + 1))
        for wrong in [[0xFF, 10], [97, 0, 10], [0xED, 0xA0, 0x80], long] as [[UInt8]] {
            #expect(TextMerge.merge(base: text, mine: text, theirs: wrong) == nil)
            #expect(TextMerge.merge(base: wrong, mine: text, theirs: text) == nil)
            #expect(TextMerge.merge(base: text, mine: wrong, theirs: wrong) == nil)
        }
        #expect(TextMerge.merge(base: text, mine: text, theirs: Array(long.dropLast())) == Array(long.dropLast()))
    }

    /// A text of about a mebibyte in lines of up to so many bytes.
    private static func large(_ letters: Range<UInt8>, _ length: Int, seed: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        while bytes.count < TextMerge.limit - 100 - length {
            let count = Int.random(in: 0...length, using: &generator)
            bytes += (0..<count).map { _ in UInt8.random(in: letters, using: &generator) } + [10]
        }
        return bytes
    }

    @Test(
        "large texts are merged or given up, never worked on for long",
        arguments: [(32, 97), (1, 97), (1, 67), (60, 80)])
    func large(length: Int, last: UInt8) throws {
        let base = Self.large(65..<last, length, seed: 1)
        let middle = try #require(base[(base.count / 2)...].firstIndex(of: 10)) + 1
        let mine = Array("mine\n".utf8) + base
        let theirs = Array(base[..<middle]) + Array("theirs\n".utf8) + Array(base[middle...])
        let reversed = Array(
            base.split(separator: 10, omittingEmptySubsequences: false).reversed().joined(separator: [10]))
        let others = [theirs, Self.large(65..<last, length, seed: 2), reversed]
        var times: [Duration] = []
        for other in others as [[UInt8]] {
            let start = ContinuousClock.now
            let result = TextMerge.merge(base: base, mine: mine, theirs: other)
            times.append(ContinuousClock.now - start)
            if other == theirs { #expect(result == Array("mine\n".utf8) + theirs) }
        }
        print(
            "lines of up to \(length) letters of \(last - 65): an insertion \(times[0]), other text \(times[1]),",
            "the lines reversed \(times[2])")
    }
}

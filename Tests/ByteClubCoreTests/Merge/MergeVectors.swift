import ByteClubCore
import TestSupport

/// Random pairs of changes to a text, with what Swift's merge makes of them, for the merge in the pages' script.
struct MergeVectors {
    /// Two versions of a text, and their merge.
    struct Vector {
        let base: String
        let mine: String
        let theirs: String

        /// The merged text; nil for a conflict.
        var merged: String? {
            TextMerge.merge(base: Array(base.utf8), mine: Array(mine.utf8), theirs: Array(theirs.utf8))
                .map { String(decoding: $0, as: UTF8.self) }
        }
    }

    let seed: UInt64
    let vectors: [Vector]

    /// Makes so many pairs.
    init(seed: UInt64, count: Int) {
        self.seed = seed
        var generator = SeededGenerator(seed: seed)
        vectors = (0..<count).map { _ in Self.vector(&generator) }
    }

    /// The vectors as JSON, one a line.
    var json: String {
        let lines = vectors.map { vector in
            var text = JSONText()
            text.object { object in
                object.member("base", vector.base)
                object.member("mine", vector.mine)
                object.member("theirs", vector.theirs)
                if let merged = vector.merged {
                    object.member("merged", merged)
                } else {
                    object.key("merged")
                    object.null()
                }
            }
            return String(decoding: text.bytes, as: UTF8.self)
        }
        return "{\"seed\": \(seed), \"vectors\": [\n" + lines.joined(separator: ",\n") + "\n]}\n"
    }

    // MARK: - Texts

    private typealias Lines = [String]

    private static func vector(_ generator: inout SeededGenerator) -> Vector {
        // Few different lines repeat often, so that changes slide and anchors fail.
        let words = [1, 2, 3, 6, 26].randomElement(using: &generator) ?? 1
        let ends = Int.random(in: 0..<8, using: &generator) == 0 ? ["\n", "\r\n"] : ["\n"]
        let base = lines(Int.random(in: 0...24, using: &generator), words, ends, &generator)
        // Half of the pairs change different halves, as people who write at different places do.
        let middle = base.count / 2
        let isApart = Bool.random(using: &generator)
        let (mineRange, theirsRange) = isApart ? (0..<middle, middle..<base.count) : (0..<base.count, 0..<base.count)
        var mine = base
        change(&mine, in: mineRange, words, ends, &generator)
        var theirs = Int.random(in: 0..<10, using: &generator) == 0 ? mine : base
        change(&theirs, in: theirsRange.clamped(to: 0..<theirs.count), words, ends, &generator)
        return Vector(
            base: text(base, &generator), mine: text(mine, &generator), theirs: text(theirs, &generator))
    }

    private static func lines(
        _ count: Int, _ words: Int, _ ends: [String], _ generator: inout SeededGenerator
    ) -> Lines {
        (0..<count).map { _ in
            let word =
                switch Int.random(in: 0..<12, using: &generator) {
                case 0...2: ""
                case 3: "- [ ] é😀 日本"
                default: String(UnicodeScalar(UInt8(97 + Int.random(in: 0..<words, using: &generator))))
                }
            return word + (ends.randomElement(using: &generator) ?? "\n")
        }
    }

    private static func change(
        _ lines: inout Lines, in range: Range<Int>, _ words: Int, _ ends: [String], _ generator: inout SeededGenerator
    ) {
        var end = range.upperBound
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let start = Int.random(in: range.lowerBound...max(range.lowerBound, end), using: &generator)
            let stop = min(end, start + Int.random(in: 0...3, using: &generator))
            let isKnown = start < stop
            let old = isKnown ? Array(lines[start..<stop]) : []
            let new =
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: Lines()
                case 1: old + old
                default: Self.lines(Int.random(in: 0...3, using: &generator), words, ends, &generator)
                }
            lines.replaceSubrange(min(start, lines.count)..<min(max(start, stop), lines.count), with: new)
            end = min(lines.count, max(range.lowerBound, end + new.count - old.count))
            // A block that moves elsewhere.
            if isKnown, Int.random(in: 0..<6, using: &generator) == 0 {
                lines.insert(
                    contentsOf: old,
                    at: Int.random(
                        in: range.lowerBound...min(max(range.lowerBound, end), lines.count), using: &generator))
                end = min(lines.count, end + old.count)
            }
        }
    }

    /// The text, now and then without the end of its last line.
    private static func text(_ lines: Lines, _ generator: inout SeededGenerator) -> String {
        let text = lines.joined()
        guard Int.random(in: 0..<6, using: &generator) == 0, text.unicodeScalars.last == "\n" else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.dropLast()))
    }
}

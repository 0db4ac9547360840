import ByteClubCore
import TestSupport

/// Merges of very many generated cases, and what came of them.
public struct MergeSimulation: Sendable {
    /// How many cases there were.
    public private(set) var cases = 0
    /// Cases that were called a conflict, although the edits do not touch.
    public private(set) var conflicts = 0
    /// Clean merges that are not the text with both sides' edits.
    public private(set) var others = 0
    /// Clean merges that break a law: the sides' order counts, or a line that was added is missing.
    public private(set) var broken = 0
    /// Clean merges that change, or are a conflict, when they are merged with a parent again on the old base.
    public private(set) var unstable = 0
    /// The first cases that were counted as anything but right.
    public private(set) var examples: [String] = []

    /// Makes and merges so many cases.
    ///
    /// `repeats` says which part of the lines is there more than once. Where there are none, there is one answer.
    public init(cases: Int, repeats: Double, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<cases { check(MergeCase(repeats: repeats, using: &generator)) }
    }

    private mutating func check(_ one: MergeCase) {
        cases += 1
        guard let merged = TextMerge.merge(base: one.base, mine: one.mine, theirs: one.theirs) else {
            conflicts += 1
            return note("conflict", one)
        }
        if merged != one.both {
            others += 1
            note("other", one, merged)
        }
        if !isLawful(one, merged) {
            broken += 1
            note("broken", one, merged)
        }
        if TextMerge.merge(base: one.base, mine: merged, theirs: one.mine) != merged
            || TextMerge.merge(base: one.base, mine: merged, theirs: one.theirs) != merged
        {
            unstable += 1
            note("unstable", one, merged)
        }
    }

    private func isLawful(_ one: MergeCase, _ merged: [UInt8]) -> Bool {
        // A line that the base has too may just as well have been moved, and removed by the other side.
        let lines = Set(Self.lines(merged)).union(Self.lines(one.base))
        return TextMerge.merge(base: one.base, mine: one.theirs, theirs: one.mine) == merged
            && one.added.allSatisfy { lines.contains($0[...]) }
            && TextMerge.merge(base: one.mine, mine: merged, theirs: one.mine) == merged
            && TextMerge.merge(base: one.base, mine: one.mine, theirs: one.mine) == one.mine
            && TextMerge.merge(base: one.base, mine: one.base, theirs: one.theirs) == one.theirs
    }

    /// A text's lines with their ends.
    private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var result: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 10).map { $0 + 1 } ?? rest.endIndex
            result.append(rest[..<end])
            rest = rest[end...]
        }
        return result
    }

    private mutating func note(_ what: String, _ one: MergeCase, _ merged: [UInt8]? = nil) {
        guard examples.count < 3 else { return }
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self).debugDescription }
        examples.append(
            "\(what): base \(text(one.base)), mine \(text(one.mine)), theirs \(text(one.theirs)),"
                + " both \(text(one.both)), merged \(merged.map(text) ?? "nil")")
    }
}

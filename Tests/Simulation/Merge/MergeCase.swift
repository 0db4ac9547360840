public import TestSupport

/// A text, two sides' edits of it between each two of which a line stays, and the text with all the edits.
public struct MergeCase: Sendable {
    /// The version that both come from.
    public private(set) var base: [UInt8] = []
    /// The version with one side's edits.
    public private(set) var mine: [UInt8] = []
    /// The version with the other side's edits.
    public private(set) var theirs: [UInt8] = []
    /// The version with the edits of both.
    public private(set) var both: [UInt8] = []
    /// The lines that an edit put in.
    public private(set) var added: [[UInt8]] = []

    private var lines = 0
    private let lineEnd: [UInt8]
    private let repeats: Double

    /// Makes a case of up to some forty lines.
    ///
    /// `repeats` says which part of the lines are such as notes hold more than once: empty ones, rules, items.
    public init(repeats: Double, using generator: inout SeededGenerator) {
        self.repeats = repeats
        lineEnd = Int.random(in: 0..<4, using: &generator) == 0 ? [13, 10] : [10]
        let count = Int.random(in: 0...(Bool.random(using: &generator) ? 6 : 40), using: &generator)
        var texts = (0..<count).map { _ in line(using: &generator) }
        if let last = texts.last, Int.random(in: 0..<4, using: &generator) == 0, last.count > lineEnd.count {
            texts[count - 1] = last.dropLast(lineEnd.count)
        }
        base = Array(texts.joined())
        let isOpen = texts.last?.last != 10 && count > 0
        var (location, least) = (0, 0)
        while true {
            let kept = Int.random(in: least...8, using: &generator)
            least = 1
            if location + kept > (isOpen ? count - 1 : count) { break }
            keep(texts[location..<location + kept])
            location += kept
            let replaced = Int.random(in: 0...min(3, count - location), using: &generator)
            edit(texts[location..<location + replaced], isLast: location + replaced == count, using: &generator)
            location += replaced
            if location == count { break }
        }
        keep(texts[location...])
    }

    private mutating func line(using generator: inout SeededGenerator) -> [UInt8] {
        if Double.random(in: 0..<1, using: &generator) < repeats {
            return Array((["", "", "", "- [ ] ", "---", "}"].randomElement(using: &generator) ?? "").utf8) + lineEnd
        }
        lines += 1
        return Array("line \(lines)".utf8) + lineEnd
    }

    private mutating func keep(_ texts: ArraySlice<[UInt8]>) {
        for text in texts {
            mine += text
            theirs += text
            both += text
        }
    }

    private mutating func edit(_ old: ArraySlice<[UInt8]>, isLast: Bool, using generator: inout SeededGenerator) {
        var new = (0..<Int.random(in: 0...3, using: &generator)).map { _ in line(using: &generator) }
        if isLast, let last = new.last, last.count > lineEnd.count, Int.random(in: 0..<4, using: &generator) == 0 {
            new[new.count - 1] = last.dropLast(lineEnd.count)
        }
        added += new
        let sides = Int.random(in: 0..<5, using: &generator)
        mine += Array((sides != 1 && sides != 2 ? new[...] : old).joined())
        theirs += Array((sides != 3 && sides != 4 ? new[...] : old).joined())
        both += Array(new.joined())
    }
}

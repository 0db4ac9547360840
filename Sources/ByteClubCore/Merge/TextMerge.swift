/// Merges two later versions of a text, line by line, on the version that both come from.
public enum TextMerge {
    /// The most bytes that a text may have to be merged.
    public static let limit = 1 << 20

    /// The text with the changes of both sides.
    ///
    /// Lines keep their ends as they are, LF, CRLF or none. The answer does not depend on which side is called mine.
    /// - Returns: nil when the sides changed the same or touching lines differently, when one of the texts is not
    ///   UTF-8, holds a NUL byte or is larger than ``limit``, or when the changes are too many to be compared quickly.
    public static func merge(base: [UInt8], mine: [UInt8], theirs: [UInt8]) -> [UInt8]? {
        guard isText(base), isText(mine), isText(theirs) else { return nil }
        if mine == theirs || theirs == base { return mine }
        if mine == base { return theirs }
        let lines = TextLines(base: base, mine: mine, theirs: theirs)
        for method in LineDifference.Method.allCases {
            guard let mine = Side(lines.mine, on: lines, method), let theirs = Side(lines.theirs, on: lines, method)
            else { continue }
            if let clean = ThreeWay(base: lines.base, mine: mine, theirs: theirs) { return clean.bytes }
        }
        return nil
    }

    static func isText(_ bytes: [UInt8]) -> Bool {
        bytes.count <= limit && !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
    }

    /// One side's text and what it changed.
    struct Side {
        let text: TextLines.Text
        var hunks: [LineDifference.Hunk]

        fileprivate init?(_ text: TextLines.Text, on lines: TextLines, _ method: LineDifference.Method) {
            let (base, numbers) = (lines.base.numbers, text.numbers)
            guard let hunks = LineDifference.hunks(from: base, to: numbers, count: lines.count, method) else {
                return nil
            }
            self.text = text
            self.hunks = LineDifference.settled(hunks, from: base, to: numbers)
        }

        /// The side's lines for a range of the base that none of the hunks but those of `taken` touches.
        func lines(for range: Range<Int>, _ taken: ArraySlice<LineDifference.Hunk>) -> Range<Int> {
            guard let first = taken.first, let last = taken.last else { return 0..<0 }
            let above = first.old.lowerBound - range.lowerBound
            let below = range.upperBound - last.old.upperBound
            return first.new.lowerBound - above..<last.new.upperBound + below
        }
    }
}

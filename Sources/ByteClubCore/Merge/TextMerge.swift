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

        /// The side's lines for a range of the base; only the hunks of `taken` touch that range.
        func lines(for range: Range<Int>, _ taken: ArraySlice<LineDifference.Hunk>) -> Range<Int> {
            guard let first = taken.first, let last = taken.last else { return 0..<0 }
            let above = first.old.lowerBound - range.lowerBound
            let below = range.upperBound - last.old.upperBound
            return first.new.lowerBound - above..<last.new.upperBound + below
        }
    }
}

extension TextMerge {
    /// The two sides' changes laid over the base.
    struct ThreeWay {
        private let base: TextLines.Text
        private(set) var bytes: [UInt8] = []
        /// The first line of the base that is not written yet.
        private var written = 0

        /// Nil when the sides' changes touch each other, are not the same, and cannot be moved apart.
        init?(base: TextLines.Text, mine: Side, theirs: Side) {
            self.base = base
            bytes.reserveCapacity(base.bytes.count + base.bytes.count / 8)
            var (left, right) = (mine.hunks[...], theirs.hunks[...])
            // Where the last change ended, and at least one line further down the next may begin.
            var end = -1
            while let start = [left.first, right.first].compactMap({ $0?.old.lowerBound }).min() {
                var range = start..<start
                let (mineTaken, theirsTaken) = Self.take(&left, &right, &range)
                if theirsTaken.isEmpty {
                    write(mine.text, mine.lines(for: range, mineTaken), for: range)
                } else if mineTaken.isEmpty {
                    write(theirs.text, theirs.lines(for: range, theirsTaken), for: range)
                } else {
                    let (ours, others) = (mine.lines(for: range, mineTaken), theirs.lines(for: range, theirsTaken))
                    if mine.text.numbers[ours] == theirs.text.numbers[others] {
                        write(mine.text, ours, for: range)
                    } else {
                        let next = [left.first, right.first].compactMap { $0?.old.lowerBound }.min() ?? .max
                        let room = end + 1..<min(next - 1, base.numbers.count)
                        let changes =
                            Change.movable(mineTaken, of: mine.text, on: base, within: room)
                            + Change.movable(theirsTaken, of: theirs.text, on: base, within: room)
                        guard let apart = Change.apart(changes) else { return nil }
                        for change in apart { write(change.text, change.hunk.new, for: change.hunk.old) }
                    }
                }
                end = written
            }
            bytes += base.bytes(ofLines: written..<base.numbers.count)
        }

        /// Removes from both sides the changes that touch each other, beginning with the first.
        private static func take(
            _ left: inout ArraySlice<LineDifference.Hunk>, _ right: inout ArraySlice<LineDifference.Hunk>,
            _ range: inout Range<Int>
        ) -> (ArraySlice<LineDifference.Hunk>, ArraySlice<LineDifference.Hunk>) {
            let (mine, theirs) = (left, right)
            while true {
                if let next = left.first, next.old.lowerBound <= range.upperBound {
                    range = range.lowerBound..<max(range.upperBound, next.old.upperBound)
                    left.removeFirst()
                } else if let next = right.first, next.old.lowerBound <= range.upperBound {
                    range = range.lowerBound..<max(range.upperBound, next.old.upperBound)
                    right.removeFirst()
                } else {
                    return (mine[..<left.startIndex], theirs[..<right.startIndex])
                }
            }
        }

        private mutating func write(_ text: TextLines.Text, _ lines: Range<Int>, for range: Range<Int>) {
            bytes += base.bytes(ofLines: written..<range.lowerBound)
            bytes += text.bytes(ofLines: lines)
            written = range.upperBound
        }
    }
}

extension TextMerge {
    /// A change of one side, and how far it may be moved through equal lines.
    struct Change {
        private(set) var hunk: LineDifference.Hunk
        /// The text with its lines.
        let text: TextLines.Text
        private let slide: LineDifference.Slide

        /// One side's changes that touch each other or the other side's, free to move in a room of the base's lines.
        static func movable(
            _ hunks: ArraySlice<LineDifference.Hunk>, of text: TextLines.Text, on base: TextLines.Text,
            within room: Range<Int>
        ) -> [Self] {
            hunks.indices.map { index in
                let above = index > hunks.startIndex ? hunks[index - 1].old.upperBound : room.lowerBound
                let below = index + 1 < hunks.endIndex ? hunks[index + 1].old.lowerBound : room.upperBound
                let slide = LineDifference.slide(
                    hunks[index], within: above..<below, from: base.numbers, to: text.numbers)
                return Self(hunk: hunks[index], text: text, slide: slide)
            }
        }

        /// Moves changes until an unchanged line separates each two.
        ///
        /// A paragraph inserted between two others is the blank line above and its text, or its text and the blank line
        /// below: where one of the two touches the other side's change, the other was meant.
        /// - Returns: nil when they stay in touch, or when either of two could go first.
        static func apart(_ changes: [Self]) -> [Self]? {
            let ordered = changes.sorted { $0.rank < $1.rank }
            for (one, other) in zip(ordered, ordered.dropFirst()) where one.rank == other.rank { return nil }
            var result: [Self] = []
            for var change in ordered {
                let old = change.hunk.old
                let first = max(old.lowerBound - change.slide.up, (result.last?.hunk.old.upperBound ?? -1) + 1)
                guard first <= old.lowerBound + change.slide.down else { return nil }
                change.hunk = change.hunk.moved(by: first - old.lowerBound)
                result.append(change)
            }
            return result
        }

        /// Where the change must end at the latest, then where it may begin.
        private var rank: (Int, Int) { (hunk.old.upperBound + slide.down, hunk.old.lowerBound - slide.up) }
    }
}

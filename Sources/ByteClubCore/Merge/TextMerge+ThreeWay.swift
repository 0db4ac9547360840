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

        /// Takes the changes of both sides that touch each other, beginning with the first.
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

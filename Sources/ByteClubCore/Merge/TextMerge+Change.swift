extension TextMerge {
    /// A change of one side, and how far it may be moved through equal lines.
    struct Change {
        private(set) var hunk: LineDifference.Hunk
        /// The text that it takes its lines from.
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

        /// Moves changes until a line that nobody changed is between each two.
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

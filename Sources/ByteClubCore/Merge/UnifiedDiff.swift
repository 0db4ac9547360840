/// What changed from one text to another, as diff(1) and patch(1) write it.
public enum UnifiedDiff {
    /// How many unchanged lines are shown around a change.
    private static let context = 3

    /// The difference with its head; empty when the texts are equal.
    ///
    /// - Returns: nil when one of them is no text, is larger than ``TextMerge/limit``, or they differ in too many ways.
    public static func text(
        from old: [UInt8], named oldName: String, to new: [UInt8], named newName: String
    ) -> String? {
        guard TextMerge.isText(old), TextMerge.isText(new) else { return nil }
        if old == new { return "" }
        let lines = TextLines(base: old, mine: new, theirs: [])
        let numbers = (old: lines.base.numbers, new: lines.mine.numbers)
        guard
            let hunks = LineDifference.hunks(from: numbers.old, to: numbers.new, count: lines.count, .shortest)
                ?? LineDifference.hunks(from: numbers.old, to: numbers.new, count: lines.count, .anchored)
        else { return nil }
        var result = "--- \(oldName)\n+++ \(newName)\n"
        for group in groups(hunks) { write(group, lines.base, lines.mine, &result) }
        return result
    }

    /// Changes that share their context come as one.
    private static func groups(_ hunks: [LineDifference.Hunk]) -> [[LineDifference.Hunk]] {
        var groups: [[LineDifference.Hunk]] = []
        for hunk in hunks {
            if let last = groups.last?.last, hunk.old.lowerBound - last.old.upperBound <= 2 * context {
                groups[groups.count - 1].append(hunk)
            } else {
                groups.append([hunk])
            }
        }
        return groups
    }

    private static func write(
        _ hunks: [LineDifference.Hunk], _ old: TextLines.Text, _ new: TextLines.Text, _ result: inout String
    ) {
        guard let first = hunks.first, let last = hunks.last else { return }
        let before = min(context, first.old.lowerBound)
        let after = min(context, old.numbers.count - last.old.upperBound)
        let olds = first.old.lowerBound - before..<last.old.upperBound + after
        let news = first.new.lowerBound - before..<last.new.upperBound + after
        result += "@@ -\(range(olds)) +\(range(news)) @@\n"
        var next = olds.lowerBound
        for hunk in hunks {
            write(next..<hunk.old.lowerBound, of: old, " ", &result)
            write(hunk.old, of: old, "-", &result)
            write(hunk.new, of: new, "+", &result)
            next = hunk.old.upperBound
        }
        write(next..<olds.upperBound, of: old, " ", &result)
    }

    private static func range(_ lines: Range<Int>) -> String {
        let start = lines.isEmpty ? lines.lowerBound : lines.lowerBound + 1
        return lines.count == 1 ? "\(start)" : "\(start),\(lines.count)"
    }

    private static func write(_ lines: Range<Int>, of text: TextLines.Text, _ mark: String, _ result: inout String) {
        for line in lines {
            let bytes = text.bytes(ofLines: line..<line + 1)
            result += mark + String(decoding: bytes, as: UTF8.self)
            if bytes.last != UInt8(ascii: "\n") { result += "\n\\ No newline at end of file\n" }
        }
    }
}

/// Lines that fit a terminal.
public enum LineWrap {
    /// With less room than this behind the indentation, lines go on at their beginning.
    private static let leastRoom = 20

    /// A line, broken at blanks into lines of at most so many columns; a longer word is broken where a line ends, so
    /// that nothing of it is lost.
    ///
    /// - Parameters:
    ///   - line: One line, which may have the sequences that begin and end bold letters.
    ///   - width: The terminal's columns.
    ///   - indent: The blanks before all lines but the first.
    /// - Returns: The lines, without blanks at their ends.
    public static func wrapped(_ line: String, to width: Int, indent: Int = 2) -> String {
        if columns(of: line) <= width || width < 2 { return line }
        let indent = width - indent >= leastRoom ? indent : width > leastRoom ? 2 : 0
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var current = ""
        var used = 0
        for (number, word) in line.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
            let needed = columns(of: word)
            if number > 0, used + 1 + needed <= width {
                current += " " + word
                used += 1 + needed
                continue
            }
            if number > 0, needed <= width - indent {
                lines.append(current)
                (current, used) = (margin, indent)
            } else if number > 0 {
                current += " "
                used += 1
            }
            var isSequence = false
            for character in word {
                if character == "\u{1B}" { isSequence = true }
                let columns = isSequence ? 0 : DisplayWidth.columns(character)
                if isSequence, character == "m" { isSequence = false }
                if used + columns > width {
                    lines.append(current)
                    (current, used) = (margin, indent)
                }
                current.append(character)
                used += columns
            }
        }
        // Blanks between words that were far apart would stand at the ends of lines.
        return (lines + [current]).map { line in
            var line = line
            while line.last == " " { line.removeLast() }
            return line
        }.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// The columns of a text without the sequences of bold letters.
    private static func columns(of text: some StringProtocol) -> Int {
        guard text.utf8.contains(0x1B) else { return DisplayWidth.of(String(text)) }
        var (sum, isSequence) = (0, false)
        for character in text {
            if character == "\u{1B}" { isSequence = true }
            if !isSequence { sum += DisplayWidth.columns(character) }
            if isSequence, character == "m" { isSequence = false }
        }
        return sum
    }
}

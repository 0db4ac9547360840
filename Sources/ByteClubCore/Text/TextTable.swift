/// Text in columns.
public struct TextTable: Sendable {
    /// The alignment of a cell's text in its column.
    public enum Alignment: Sendable { case left, right }

    /// One column.
    public struct Column: Sendable {
        /// The column's heading on a terminal.
        public var title: String
        /// Where its texts stand.
        public var alignment: Alignment
        /// Whether its texts are shortened where a terminal is too narrow for the longest.
        public var isShortened: Bool
        /// When it is left out where that is not enough: the columns with the highest number go first, 0 stays.
        public var rank: Int

        /// Describes a column.
        public init(
            _ title: String = "", _ alignment: Alignment = .left, isShortened: Bool = false, rank: Int = 0
        ) {
            self.title = title
            self.alignment = alignment
            self.isShortened = isShortened
            self.rank = rank
        }
    }

    /// A shortened column has at least so much room where another one can be left out for it.
    private static let leastRoom = 10

    /// The columns.
    public var columns: [Column]
    /// The rows; each has one cell for each column.
    public var rows: [[String]] = []
    /// Whether a terminal shows the titles.
    public var hasTitles = true

    /// Begins a table without rows.
    public init(_ columns: Column...) { self.columns = columns }

    /// One line for each row, in which nothing is left that a terminal would obey but the bold letters of the titles.
    ///
    /// - Parameters:
    ///   - width: The terminal's columns, which no line exceeds; nil for programs, which get the cells separated by tabs.
    ///   - isBold: Whether the titles are bold.
    /// - Returns: The lines; nothing without rows.
    public func list(in width: Int?, isBold: Bool = false) -> String {
        let rows = rows.map { $0.map(VisibleText.line) }
        guard let width else { return rows.map { $0.joined(separator: "\t") }.joined(separator: "\n") }
        if rows.isEmpty { return "" }
        let shown = fitting(width, rows)
        var lines = ([columns.map(\.title)] + rows).map { row in
            DisplayWidth.shortened(line(row, shown), to: width)
        }
        if !hasTitles {
            lines.removeFirst()
        } else if isBold {
            lines[0] = "\u{1B}[1m\(lines[0])\u{1B}[0m"
        }
        return lines.joined(separator: "\n")
    }

    /// Titles left out, and the last cell of each row wrapped where the terminal is too narrow for it.
    ///
    /// - Parameter width: The terminal's columns; nil for lines as long as they are.
    /// - Returns: The lines.
    public func facts(in width: Int?) -> String {
        let rows = rows.map { $0.map(VisibleText.line) }
        let shown = columns.indices.map { (column: $0, width: Self.widest($0, rows)) }
        let indent = shown.dropLast().reduce(0) { $0 + $1.width + 2 }
        return rows.map { line($0, shown) }
            .map { line in width.map { LineWrap.wrapped(line, to: $0, indent: indent) } ?? line }
            .joined(separator: "\n")
    }

    /// The columns that are shown on a terminal, each with its width.
    private func fitting(_ width: Int, _ rows: [[String]]) -> [(column: Int, width: Int)] {
        let cells = [columns.map(\.title)] + rows
        var shown = columns.indices.map { (column: $0, width: Self.widest($0, cells)) }
        // A column of empty cells is left out.
        shown.removeAll { Self.widest($0.column, rows) == 0 }
        let needed = { (shown: [(column: Int, width: Int)]) in
            shown.reduce(-2) { sum, next in
                sum + 2 + (columns[next.column].isShortened ? min(Self.leastRoom, next.width) : next.width)
            }
        }
        while needed(shown) > width,
            let last = shown.map({ columns[$0.column].rank }).max(), last > 0
        {
            shown.removeAll { columns[$0.column].rank == last }
        }
        // The remaining width is shared among the shortened columns in equal parts; a part that one does not need is
        // left to the others.
        var room = width - shown.reduce(-2) { $0 + 2 + (columns[$1.column].isShortened ? 0 : $1.width) }
        let flexible = shown.indices.filter { columns[shown[$0].column].isShortened }
            .sorted { shown[$0].width < shown[$1].width }
        for (index, place) in flexible.enumerated() {
            shown[place].width = max(1, min(shown[place].width, room / (flexible.count - index)))
            room -= shown[place].width
        }
        return shown
    }

    private func line(_ row: [String], _ shown: [(column: Int, width: Int)]) -> String {
        var line = ""
        for (index, next) in shown.enumerated() where next.column < row.count {
            let cell = DisplayWidth.shortened(row[next.column], to: next.width)
            let blanks = String(repeating: " ", count: max(0, next.width - DisplayWidth.of(cell)))
            if index > 0 { line += "  " }
            line += columns[next.column].alignment == .left ? cell + blanks : blanks + cell
        }
        while line.last == " " { line.removeLast() }
        return line
    }

    private static func widest(_ column: Int, _ rows: [[String]]) -> Int {
        rows.map { column < $0.count ? DisplayWidth.of($0[column]) : 0 }.max() ?? 0
    }
}

/// The number of columns that a text occupies on a terminal.
public enum DisplayWidth {
    /// The columns of a text without control characters.
    public static func of(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + columns($1) }
    }

    /// A text's beginning and end with `…` between, in at most so many columns.
    public static func shortened(_ text: String, to width: Int) -> String {
        if of(text) <= width { return text }
        if width < 1 { return "" }
        var head = ""
        var tail = ""
        var used = 1
        var characters = text[...]
        while let last = characters.last, DisplayWidth.columns(last) + used <= (width + 2) / 2 {
            tail = String(last) + tail
            used += columns(last)
            characters.removeLast()
        }
        for character in characters {
            if used + columns(character) > width { break }
            head.append(character)
            used += columns(character)
        }
        return head + "…" + tail
    }

    static func columns(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        switch first.value {
        // The pictures that are shown in colour by themselves.
        case 0x2300...0x2BFF where first.properties.isEmojiPresentation: return 2
        case 0x1F000...0x1F2FF where first.properties.isEmojiPresentation: return 2
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default:
            switch first.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .format: return 0
            default: return 1
            }
        }
    }
}

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

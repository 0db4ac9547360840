/// Text in columns.
public struct TextTable: Sendable {
    /// On which side of its column a cell's text stands.
    public enum Alignment: Sendable { case left, right }

    /// One column.
    public struct Column: Sendable {
        /// What stands above it on a terminal.
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
        // A column of empty cells says nothing.
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
        // What is left goes to the shortened columns: in equal parts, and what one does not need to the others.
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

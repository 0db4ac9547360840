/// Text in columns.
struct Table: Sendable {
    /// On which side of its column a cell's text stands.
    enum Alignment: Sendable { case left, right }

    /// One alignment for each column.
    var alignments: [Alignment]
    /// The rows; each has one cell for each column.
    var rows: [[String]] = []

    init(_ alignments: Alignment...) {
        self.alignments = alignments
    }

    init(_ alignments: [Alignment]) {
        self.alignments = alignments
    }

    /// The rows with two blanks between the columns and none at the ends of lines.
    var text: String {
        let rows = rows.map { $0.map(Failure.line) }
        let widths = alignments.indices.map { column in
            rows.map { column < $0.count ? DisplayWidth.of($0[column]) : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() where column < widths.count {
                let blanks = String(repeating: " ", count: widths[column] - DisplayWidth.of(cell))
                if column > 0 { line += "  " }
                line += alignments[column] == .left ? cell + blanks : blanks + cell
            }
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }
}

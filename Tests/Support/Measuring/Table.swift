/// A title and rows, printed as Markdown.
public struct Table: Sendable {
    /// The heading above the table.
    public let title: String
    /// The names of the columns.
    public let header: [String]
    /// The rows, each with one cell per column.
    public var rows: [[String]]

    /// Creates a table.
    public init(title: String, header: [String], rows: [[String]] = []) {
        (self.title, self.header, self.rows) = (title, header, rows)
    }

    /// A table of contestants whose ratios are speeds relative to the one named.
    public static func race(
        _ title: String, unit: String, amount: Double, reference: String, _ contestants: [(String, [Measurement])]
    ) -> Table {
        let medians = contestants.map { ($0.0, Measurement.median($0.1)) }
        let base = medians.first { $0.0 == reference }?.1.seconds ?? .nan
        var table = Table(
            title: title, header: ["contestant", unit, "x \(reference)", "ms", "CPU s", "peak MiB"])
        for (name, run) in medians {
            table.rows.append([
                name, amount / run.seconds >= 10 ? "\(Int(amount / run.seconds))" : number(amount / run.seconds, 2),
                number(base / run.seconds, 2), number(run.seconds * 1000, 1),
                run.processor > 0 ? number(run.processor, 2) : "", run.memory > 0 ? number(run.memory, 0) : "",
            ])
        }
        return table
    }

    /// A number with a fixed count of decimal places; `-` unless it is finite.
    public static func number(_ value: Double, _ digits: Int) -> String {
        guard value.isFinite else { return "-" }
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int64((abs(value) * scale).rounded())
        let whole = "\(value < 0 ? "-" : "")\(scaled / Int64(scale))"
        guard digits > 0 else { return whole }
        let fraction = "\(scaled % Int64(scale))"
        return whole + "." + String(repeating: "0", count: digits - fraction.utf8.count) + fraction
    }

    /// The table in Markdown, with a heading of the second level.
    public var text: String {
        let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
        let line = { (cells: [String]) in
            "| " + zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ")
                + " |"
        }
        let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
        return (["## \(title)", "", line(header), rule] + rows.map(line) + [""]).joined(separator: "\n")
    }
}

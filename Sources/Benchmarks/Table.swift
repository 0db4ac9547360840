/// What one contestant did, as medians over the rounds.
struct Measurement: Sendable {
    /// Seconds from start to end.
    var seconds: Double
    /// Processor seconds of the contestant's own process.
    var processor: Double = 0
    /// The most memory of the contestant's own process, in MiB.
    var memory: Double = 0

    static func median(_ runs: [Measurement]) -> Measurement {
        Measurement(
            seconds: median(runs.map(\.seconds)), processor: median(runs.map(\.processor)),
            memory: median(runs.map(\.memory)))
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return .nan }
        return sorted.count % 2 == 1
            ? sorted[sorted.count / 2] : (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2
    }
}

/// A title and rows, printed as Markdown.
struct Table: Sendable {
    let title: String
    let header: [String]
    var rows: [[String]] = []

    /// A table of contestants whose ratios are speeds relative to the one named.
    static func race(
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

    static func number(_ value: Double, _ digits: Int) -> String {
        guard value.isFinite else { return "-" }
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int64((abs(value) * scale).rounded())
        let whole = "\(value < 0 ? "-" : "")\(scaled / Int64(scale))"
        guard digits > 0 else { return whole }
        let fraction = "\(scaled % Int64(scale))"
        return whole + "." + String(repeating: "0", count: digits - fraction.utf8.count) + fraction
    }

    var text: String {
        let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
        let line = { (cells: [String]) in
            "| " + zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ")
                + " |"
        }
        let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
        return (["## \(title)", "", line(header), rule] + rows.map(line) + [""]).joined(separator: "\n")
    }
}

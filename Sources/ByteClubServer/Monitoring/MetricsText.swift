/// A page in the text format of Prometheus (version 0.0.4), written metric by metric.
struct MetricsText {
    /// What a metric's values mean.
    enum Kind: String {
        /// It only grows.
        case counter
        /// It goes up and down.
        case gauge
        /// It is a distribution.
        case histogram
    }

    /// The media type of the page.
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// The page so far.
    private(set) var text = ""

    /// Starts a metric, whose samples follow.
    mutating func metric(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(Self.escape(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// A metric of a single value.
    mutating func value(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        metric(name, kind, help)
        sample(name, value)
    }

    /// One value of a metric.
    mutating func sample(_ name: String, _ value: Double) { sample(name, [], value) }

    /// One value of a metric, with labels that tell it apart.
    mutating func sample(_ name: String, _ labels: [(name: String, value: String)], _ value: Double) {
        text += name
        if !labels.isEmpty {
            let pairs = labels.map { "\($0.name)=\"\(Self.escape($0.value, quotes: true))\"" }
            text += "{" + pairs.joined(separator: ",") + "}"
        }
        text += " \(Self.number(value))\n"
    }

    /// The samples of a distribution.
    mutating func samples(_ name: String, _ labels: [(name: String, value: String)], _ histogram: Histogram) {
        var total: Int64 = 0
        for (bound, count) in zip(Histogram.bounds, histogram.counts) {
            total += count
            sample(name + "_bucket", labels + [("le", Self.number(bound))], Double(total))
        }
        sample(name + "_bucket", labels + [("le", "+Inf")], Double(histogram.count))
        sample(name + "_sum", labels, histogram.sum)
        sample(name + "_count", labels, Double(histogram.count))
    }

    private static func number(_ value: Double) -> String {
        if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
        return value.isNaN ? "NaN" : value.isInfinite ? (value > 0 ? "+Inf" : "-Inf") : "\(value)"
    }

    private static func escape(_ text: String, quotes: Bool) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}

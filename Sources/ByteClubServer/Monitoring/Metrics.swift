import Synchronization

/// Counts the requests that were answered, by operation.
final class RequestMetrics: Sendable {
    /// The counters of one operation.
    struct Series: Sendable {
        /// The answers by the first digit of their status.
        var classes = [Int64](repeating: 0, count: 6)
        /// How long they took.
        var latency = Histogram()
        /// The bytes of bodies that came in.
        var received: Int64 = 0
        /// The bytes of bodies that went out.
        var sent: Int64 = 0
    }

    private let series = Mutex<[String: Series]>([:])

    /// Counts an answer.
    func record(_ answer: RequestRecord) {
        series.withLock { all in
            var series = all[answer.endpoint] ?? Series()
            all[answer.endpoint] = nil
            series.classes[min(max(answer.status / 100, 0), 5)] += 1
            series.latency.record(answer.seconds)
            series.received += answer.received
            series.sent += answer.sent
            all[answer.endpoint] = series
        }
    }

    /// The counters so far, by operation.
    var all: [(operation: String, series: Series)] {
        series.withLock { all in all.map { ($0.key, $0.value) } }.sorted { $0.0 < $1.0 }
    }
}

/// How often something took how long, in steps that Prometheus adds up.
struct Histogram: Hashable, Sendable {
    /// The upper ends of the steps in seconds; longer times are in the total only.
    static let bounds: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]

    /// How many were at most as long as each bound and longer than the one before.
    private(set) var counts = [Int64](repeating: 0, count: bounds.count)
    /// How many there were.
    private(set) var count: Int64 = 0
    /// How long all took together, in seconds.
    private(set) var sum = 0.0

    /// Counts one.
    mutating func record(_ seconds: Double) {
        count += 1
        sum += seconds
        if let step = Self.bounds.firstIndex(where: { seconds <= $0 }) { counts[step] += 1 }
    }
}

/// A page in the text format of Prometheus (version 0.0.4), written metric by metric.
struct MetricsText {
    /// The kind of a metric.
    enum Kind: String {
        /// It only grows.
        case counter
        /// A value that rises and falls.
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
        sample(name, [], value)
    }

    /// A metric of some values, each with a label that distinguishes it.
    mutating func values(
        _ name: String, _ kind: Kind, _ help: String, by label: String, _ values: [(label: String, value: Double)]
    ) {
        metric(name, kind, help)
        for (text, value) in values { sample(name, [(label, text)], value) }
    }

    /// One value of a metric, with labels that distinguish it where there are several.
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

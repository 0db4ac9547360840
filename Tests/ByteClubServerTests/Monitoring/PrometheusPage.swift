import Testing

/// A page in Prometheus' text format, read strictly.
struct PrometheusPage {
    struct Sample: Hashable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    private(set) var types: [String: String] = [:]
    private(set) var samples: [Sample] = []

    /// Reads a page; every departure from the format is an issue of the test.
    init(_ text: String) throws {
        #expect(text.hasSuffix("\n"))
        var helped: Set<String> = []
        var closed: Set<String> = []
        var current = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
            if line.hasPrefix("# ") {
                let words = line.split(separator: " ", maxSplits: 3)
                try #require(words.count == 4, "\(line)")
                let name = String(words[2])
                if words[1] == "HELP" {
                    #expect(helped.insert(name).inserted, "two HELP lines: \(line)")
                } else {
                    #expect(words[1] == "TYPE" && helped.contains(name) && types[name] == nil, "\(line)")
                    #expect(["counter", "gauge", "histogram"].contains(words[3]), "\(line)")
                    types[name] = String(words[3])
                    closed.insert(current)
                    current = name
                    #expect(!closed.contains(name))
                }
                continue
            }
            let sample = try Self.sample(line)
            let isOwn =
                types[current] == "histogram"
                ? ["_bucket", "_sum", "_count"].contains { sample.name == current + $0 } : sample.name == current
            #expect(isOwn, "\(line) does not belong to \(current)")
            if types[current] == "counter" { #expect(sample.name.hasSuffix("_total") && sample.value >= 0, "\(line)") }
            samples.append(sample)
        }
        let identities = samples.map { Sample(name: $0.name, labels: $0.labels, value: 0) }
        #expect(Set(identities).count == identities.count, "a sample is there twice")
        checkHistograms()
    }

    private static func sample(_ line: Substring) throws -> Sample {
        let pattern = /([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)/
        let match = try #require(line.wholeMatch(of: pattern), "\(line)")
        var labels: [String: String] = [:]
        var rest = match.2 ?? ""
        while !rest.isEmpty {
            let label = try #require(
                rest.prefixMatch(of: /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/), "\(line)")
            labels[String(label.1)] = String(label.2)
            rest = rest[label.range.upperBound...]
        }
        let text = match.3 == "+Inf" ? "inf" : String(match.3)
        return Sample(name: String(match.1), labels: labels, value: try #require(Double(text), "\(line)"))
    }

    private func checkHistograms() {
        for (name, _) in types where types[name] == "histogram" {
            let buckets = samples.filter { $0.name == name + "_bucket" }
            for (labels, group) in Dictionary(grouping: buckets, by: { $0.labels.filter { $0.key != "le" } }) {
                let bounds = group.map { Double($0.labels["le"] == "+Inf" ? "inf" : $0.labels["le"] ?? "") ?? .nan }
                #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 } && bounds.last == .infinity, "\(name)")
                #expect(zip(group, group.dropFirst()).allSatisfy { $0.value <= $1.value }, "\(name) \(labels)")
                #expect(value(name + "_count", labels) == group.last?.value)
                #expect(value(name + "_sum", labels) != nil)
            }
        }
    }

    /// The value of a sample; nil when there is none.
    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }
}

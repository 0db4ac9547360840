/// Figures of several rounds by contestant, in the order in which they first came.
struct Series {
    /// The contestants.
    private(set) var names: [String] = []
    private var rounds: [String: [[Double]]] = [:]

    /// Takes what one round gave a contestant.
    mutating func add(_ name: String, _ figures: [Double]) {
        if rounds[name] == nil { names.append(name) }
        rounds[name, default: []].append(figures)
    }

    /// The median of each figure.
    func median(_ name: String) -> [Double] {
        let runs = rounds[name] ?? []
        return (runs.first ?? []).indices.map { column in Measurement.median(runs.map { $0[column] }) }
    }
}

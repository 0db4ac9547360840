/// How often something took how long, in steps that Prometheus adds up.
struct Histogram: Hashable, Sendable {
    /// The upper ends of the steps in seconds; what took longer is counted in the total alone.
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

import Synchronization

/// Counts the requests that were answered, by operation.
final class RequestMetrics: Sendable {
    /// What is counted of one operation.
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
    func record(operation: String, status: Int, seconds: Double, received: Int64, sent: Int64) {
        series.withLock { all in
            var series = all[operation] ?? Series()
            all[operation] = nil
            series.classes[min(max(status / 100, 0), 5)] += 1
            series.latency.record(seconds)
            series.received += received
            series.sent += sent
            all[operation] = series
        }
    }

    /// What was counted so far, by operation.
    var all: [(operation: String, series: Series)] {
        series.withLock { all in all.map { ($0.key, $0.value) } }.sorted { $0.0 < $1.0 }
    }
}

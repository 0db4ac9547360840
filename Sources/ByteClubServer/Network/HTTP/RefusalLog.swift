import Logging
import Synchronization

/// Sums up in the log how often strangers were refused for their rate, which would otherwise fill it: a line for the
/// first refusal of a network, then one a minute with their number.
final class RefusalLog: Sendable {
    /// The time between two lines of a network.
    static let interval = Duration.seconds(60)
    /// The networks that are counted separately within that time; refusals of further ones are counted together.
    static let mostNetworks = 1000

    private struct Sum {
        var count = 0
        var start: ContinuousClock.Instant
    }

    private struct State {
        var sums: [IPAddress?: Sum] = [:]
        var nextReport: ContinuousClock.Instant?
    }

    private let logger: Logger
    private let state = Mutex(State())

    /// Writes to a log.
    init(logger: Logger) {
        self.logger = logger
    }

    /// Counts a refusal, and writes a line when it is a network's first.
    func count(_ network: IPAddress?, at now: ContinuousClock.Instant = .now) {
        let (shown, isFirst) = state.withLock { state -> (IPAddress?, Bool) in
            let isKnown = state.sums[network] != nil
            let key = isKnown || state.sums.count < Self.mostNetworks ? network : nil
            if state.nextReport == nil { state.nextReport = now + Self.interval }
            if state.sums[key] != nil {
                state.sums[key]?.count += 1
                return (key, false)
            }
            state.sums[key] = Sum(start: now)
            return (key, true)
        }
        if isFirst { write(shown, count: 1, seconds: 0) }
    }

    /// Writes the sums whose time has come.
    func writeSums(at now: ContinuousClock.Instant = .now) {
        let due = state.withLock { state -> [(IPAddress?, Sum)] in
            guard let deadline = state.nextReport, now >= deadline else { return [] }
            let due = state.sums.filter { now - $0.value.start >= Self.interval }
            for (network, sum) in due { state.sums[network] = sum.count > 0 ? Sum(start: now) : nil }
            state.nextReport = state.sums.isEmpty ? nil : now + Self.interval
            return due.map { ($0.key, $0.value) }
        }
        for (network, sum) in due where sum.count > 0 {
            write(network, count: sum.count, seconds: Int((now - sum.start) / .seconds(1)))
        }
    }

    private func write(_ network: IPAddress?, count: Int, seconds: Int) {
        logger.notice(
            "requests refused by the rate limit",
            metadata: [
                "peer": .string(network?.description ?? "others"), "count": .stringConvertible(count),
                "seconds": .stringConvertible(seconds),
            ])
    }
}

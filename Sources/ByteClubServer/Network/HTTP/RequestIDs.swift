import Synchronization

/// Names for requests, unique among all servers with near certainty, so that a client's report finds the log's line.
final class RequestIDs: Sendable {
    private let prefix = String(UInt64.random(in: .min ... .max) | 1 << 63, radix: 16)
    private let next = Atomic<UInt64>(0)

    /// A name that was never given before.
    func make() -> String {
        prefix + String(next.wrappingAdd(1, ordering: .relaxed).oldValue, radix: 16)
    }
}

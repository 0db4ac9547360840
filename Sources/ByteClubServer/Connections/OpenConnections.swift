import HummingbirdCore
import NIOCore
import Synchronization

/// Counts the connections of a server and what goes through them.
///
/// Up to its limit connections are served. A few more are accepted to tell them so, and the rest wait in the kernel.
final class OpenConnections: AvailableConnectionsDelegate {
    /// How many more than the limit are accepted to be answered with 503.
    static let courtesy = 64

    /// The most connections that are served at once.
    let limit: Int
    private let count = Atomic<Int>(0)
    private let refused = Atomic<Int64>(0)
    private let bytesIn = Atomic<Int64>(0)
    private let bytesOut = Atomic<Int64>(0)
    private let draining = Atomic<Bool>(false)

    /// Starts without any.
    init(limit: Int) {
        self.limit = limit
    }

    /// Counts a connection until its channel is closed; false when it is one too many.
    func admit(_ channel: any Channel) -> Bool {
        let open = count.wrappingAdd(1, ordering: .relaxed).newValue
        channel.closeFuture.whenComplete { _ in self.count.wrappingSubtract(1, ordering: .relaxed) }
        if open > limit { refused.wrappingAdd(1, ordering: .relaxed) }
        return open <= limit
    }

    /// Counts bytes that came in.
    func received(_ bytes: Int) { bytesIn.wrappingAdd(Int64(bytes), ordering: .relaxed) }

    /// Counts bytes that went out.
    func sent(_ bytes: Int) { bytesOut.wrappingAdd(Int64(bytes), ordering: .relaxed) }

    /// Notes that the server is stopping.
    func beginDraining() { draining.store(true, ordering: .relaxed) }

    /// Whether the server is stopping.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// How many are open now.
    var open: Int { count.load(ordering: .relaxed) }

    /// What was counted since the start.
    var totals: (refused: Int64, received: Int64, sent: Int64) {
        (refused.load(ordering: .relaxed), bytesIn.load(ordering: .relaxed), bytesOut.load(ordering: .relaxed))
    }

    func connectionOpened() {}

    func connectionClosed() {}

    func isAcceptingNewConnections() -> Bool { open < limit + Self.courtesy }
}

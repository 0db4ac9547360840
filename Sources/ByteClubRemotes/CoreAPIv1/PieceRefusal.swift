import Synchronization

/// Whether a server is known to take no uploads in pieces, as some of Core API v1 do; kept so that it is asked once.
final class PieceRefusal: Sendable {
    private let slot = Mutex(false)

    var isKnown: Bool { slot.withLock { $0 } }

    /// Takes that an upload in pieces was refused, and one in a single request was not.
    func learn() { slot.withLock { $0 = true } }
}

import Synchronization

/// What a remote has learned of its server from the answers to its requests.
final class ServerExperience: Sendable {
    private let state = Mutex((hasAnswered: false, takesNoPieces: false))

    /// Whether it has answered, so that the address is right.
    var hasAnswered: Bool {
        get { state.withLock { $0.hasAnswered } }
        set { state.withLock { $0.hasAnswered = newValue } }
    }

    /// Whether it is known to take no uploads in pieces, as some servers of Core API v1.
    var takesNoPieces: Bool {
        get { state.withLock { $0.takesNoPieces } }
        set { state.withLock { $0.takesNoPieces = newValue } }
    }
}

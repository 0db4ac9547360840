import Synchronization

/// The signal that ends a command, once there is one, and what it cancels.
final class Received: Sendable {
    private struct State {
        var status: ExitStatus?
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// The first signal's status.
    var status: ExitStatus? { state.withLock { $0.status } }

    /// Remembers a signal; only the first one counts.
    func set(_ status: ExitStatus) {
        let cancel = state.withLock { state in
            if state.status == nil { state.status = status }
            return state.cancel
        }
        cancel?()
    }

    /// Has a signal call this, also one that has come already.
    func onSignal(_ cancel: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.cancel = cancel
            return state.status != nil
        }
        if isLate { cancel() }
    }
}

import Synchronization

/// The signal that ended a command, once there is one.
final class Received: Sendable {
    private let value = Mutex<ExitStatus?>(nil)

    /// The first signal's status.
    var status: ExitStatus? { value.withLock { $0 } }

    /// Remembers a signal; only the first one counts.
    func set(_ status: ExitStatus) {
        value.withLock { if $0 == nil { $0 = status } }
    }
}

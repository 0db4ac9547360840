import Dispatch
import Synchronization

@testable import ByteClubCLI

/// Lets a blocking closure wait for a task.
final class Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func raise() { semaphore.signal() }
    func wait() { semaphore.wait() }
}

/// An exit status that is set later.
final class Status: Sendable {
    private let slot = Mutex<ExitStatus?>(nil)

    var value: ExitStatus? { slot.withLock { $0 } }
    func set(_ status: ExitStatus) { slot.withLock { $0 = status } }
}

import Synchronization

@testable import ByteClubCLI

/// A key that a test presses instead of a person.
final class Press: Sendable {
    private let listener = Mutex<(@Sendable (ExitStatus) -> Void)?>(nil)

    var interrupts: Interrupts {
        Interrupts(listen: { onSignal in
            self.listener.withLock { $0 = onSignal }
            return { self.listener.withLock { $0 = nil } }
        })
    }

    func now(_ signal: ExitStatus) { listener.withLock { $0 }?(signal) }
}

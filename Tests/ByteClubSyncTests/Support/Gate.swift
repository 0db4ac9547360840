import Glibc
import Synchronization

/// Holds threads until it is opened.
final class Gate: Sendable {
    private let isOpen = Mutex(false)

    func wait() { while !isOpen.withLock({ $0 }) { usleep(1_000) } }
    func open() { isOpen.withLock { $0 = true } }
}

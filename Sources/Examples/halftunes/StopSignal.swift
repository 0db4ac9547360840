import Dispatch
import Glibc
import Synchronization

/// Ctrl-C and SIGTERM: the first one is told, the second one ends the program as usual.
final class StopSignal: Sendable {
    private let first = Mutex<Int32?>(nil)

    /// The signal that came, or nil.
    var received: Int32? { first.withLock { $0 } }

    init(_ stop: @escaping @Sendable () -> Void) {
        let numbers = [SIGINT, SIGTERM]
        for number in numbers {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            _ = signal(number, SIG_IGN)
            source.setEventHandler { [self] in
                for number in numbers { _ = signal(number, SIG_DFL) }
                _ = source  // which the handler keeps alive
                first.withLock { $0 = number }
                stop()
            }
            source.resume()
        }
    }
}

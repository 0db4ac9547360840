import Dispatch
import Glibc
import Synchronization

/// Handles the first Ctrl-C or SIGTERM; the second one ends the program at once.
package final class StopSignal: Sendable {
    private let first = Mutex<Int32?>(nil)

    /// The signal received, or nil.
    package var received: Int32? { first.withLock { $0 } }

    /// Begins to wait for signals; a signal that arrives after this counts.
    ///
    /// - Parameters:
    ///   - numbers: The signals.
    ///   - ending: Called before a second signal ends the program.
    ///   - stop: Called with the first one.
    package init(
        _ numbers: [Int32] = [SIGINT, SIGTERM], ending: @escaping @Sendable () -> Void = {},
        _ stop: @escaping @Sendable (Int32) -> Void
    ) {
        let registered = DispatchSemaphore(value: 0)
        for number in numbers {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            _ = signal(number, SIG_IGN)
            source.setEventHandler { [self] in
                _ = source  // The handler keeps the source alive.
                let isFirst = first.withLock { received in
                    defer { received = received ?? number }
                    return received == nil
                }
                if isFirst { return stop(number) }
                ending()
                _exit(128 + number)
            }
            source.setRegistrationHandler { registered.signal() }
            source.resume()
        }
        // Until then the system drops the signals.
        for _ in numbers { registered.wait() }
    }
}

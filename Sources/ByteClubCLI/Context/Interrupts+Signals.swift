import CLinux
import Dispatch
import Glibc
import Synchronization

/// Passes signals from the handler, which may call next to nothing, to a queue.
private final class SignalPipe: Sendable {
    static let shared = SignalPipe()
    /// The end that the handler writes to; -1 without a pipe.
    static let descriptor = Atomic<Int32>(-1)
    /// The number of signals since listening began.
    static let count = Atomic<Int32>(0)
    private static let numbers = [SIGINT, SIGTERM]
    private static let questions = [SIGUSR1, SIGWINCH]

    private let listener = Mutex<(@Sendable (ExitStatus) -> Void)?>(nil)
    private let answerer = Mutex<(@Sendable (StatusSignals.Signal) -> Void)?>(nil)

    private init() {
        var ends: [Int32] = [-1, -1]
        guard unsafe byteclub_pipe(&ends) == 0 else { return }
        let reading = ends[0]
        Self.descriptor.store(ends[1], ordering: .sequentiallyConsistent)
        let source = DispatchSource.makeReadSource(fileDescriptor: reading, queue: .global())
        source.setEventHandler { [self] in
            var number: UInt8 = 0
            guard unsafe read(reading, &number, 1) == 1 else { return }
            switch Int32(number) {
            case SIGUSR1: answerer.withLock { $0 }?(.report)
            case SIGWINCH: answerer.withLock { $0 }?(.resize)
            case SIGTERM: listener.withLock { $0 }?(.terminated)
            default: listener.withLock { $0 }?(.interrupted)
            }
            _ = source  // which the handler keeps alive, as long as the process
        }
        source.resume()
    }

    func listen(_ onSignal: @escaping @Sendable (ExitStatus) -> Void) {
        listener.withLock { $0 = onSignal }
        Self.count.store(0, ordering: .sequentiallyConsistent)
        Self.handle(Self.numbers) { number in
            if SignalPipe.count.wrappingAdd(1, ordering: .relaxed).newValue > 1 {
                TaskbarProgress.clearAtOnce()
                _exit(128 + number)
            }
            SignalPipe.send(number)
        }
    }

    func answer(_ onSignal: @escaping @Sendable (StatusSignals.Signal) -> Void) {
        answerer.withLock { $0 = onSignal }
        Self.handle(Self.questions) { SignalPipe.send($0) }
    }

    private static func handle(_ signals: [Int32], by handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = handler
        action.sa_flags = SA_RESTART
        for number in signals { _ = unsafe sigaction(number, &action, nil) }
    }

    /// Writes a signal's number to the pipe, in its handler.
    private static func send(_ number: Int32) {
        let saved = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = unsafe write(descriptor.load(ordering: .relaxed), &byte, 1)
        errno = saved
    }

    /// Ignores later signals, which must not end the process.
    func stopAnswering() { answerer.withLock { $0 = nil } }

    func stop() {
        for number in Self.numbers {
            _ = signal(number, SIG_DFL)
            TaskbarProgress.clear(before: number)
        }
        listener.withLock { $0 = nil }
    }
}

extension Interrupts {
    /// SIGINT and SIGTERM of the process.
    static let signals = Interrupts(listen: { onSignal in
        SignalPipe.shared.listen(onSignal)
        return { SignalPipe.shared.stop() }
    })
}

extension StatusSignals {
    /// SIGUSR1 and SIGWINCH of the process.
    static let signals = StatusSignals(listen: { onSignal in
        SignalPipe.shared.answer(onSignal)
        return { SignalPipe.shared.stopAnswering() }
    })
}

extension TaskbarProgress {
    /// Makes every signal that ends or stops the process clear the terminal's task bar first.
    static func clearBeforeSignals() {
        for number in [SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP] { clear(before: number) }
    }

    /// Makes a signal clear the task bar before its default action; an ignored or handled signal is left alone.
    fileprivate static func clear(before number: Int32) {
        let old = signal(number) { TaskbarProgress.pass($0) }
        // The default is the null pointer.
        if let old { _ = signal(number, old) }
    }

    /// Performs a signal's default action in its handler.
    private static func pass(_ number: Int32) {
        let saved = errno
        clearAtOnce()
        _ = signal(number, SIG_DFL)
        raise(number)
        // A signal is blocked in its own handler.
        var itself = sigset_t()
        unsafe sigemptyset(&itself)
        unsafe sigaddset(&itself, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &itself, nil)
        // A stopped process continues here.
        clear(before: number)
        errno = saved
    }
}

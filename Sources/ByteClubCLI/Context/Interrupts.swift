import Synchronization

/// Ctrl-C and SIGTERM.
struct Interrupts: Sendable {
    /// Starts to listen and returns a closure that stops it.
    ///
    /// The first signal calls `onSignal`, a second one ends the process.
    var listen: @Sendable (_ onSignal: @escaping @Sendable (ExitStatus) -> Void) -> @Sendable () -> Void

    /// Interrupts that never arrive.
    static let none = Interrupts(listen: { _ in {} })

    /// Runs work that the first signal cancels, after winding down if requested; it then fails with the signal's
    /// status.
    func cancelling<Value: Sendable>(
        _ windDown: WindDown? = nil, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let received = Received()
        let stop = listen { received.set($0) }
        defer { stop() }
        let task = Task { try await work() }
        received.onSignal { if let windDown { windDown.request { task.cancel() } } else { task.cancel() } }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch {
            guard let status = received.status else { throw error }
            throw Failure(status, status == .interrupted ? "cancelled" : "terminated")
        }
    }
}

/// The first signal of a command, and the work to cancel on it.
final class Received: Sendable {
    private let state = Mutex<(status: ExitStatus?, cancel: (@Sendable () -> Void)?)>((nil, nil))

    /// The first signal's status.
    var status: ExitStatus? { state.withLock { $0.status } }

    /// Records a signal; only the first one counts.
    func set(_ status: ExitStatus) {
        let cancel = state.withLock { state in
            if state.status == nil { state.status = status }
            return state.cancel
        }
        cancel?()
    }

    /// Sets the function to call on a signal; calls it now if one has arrived already.
    func onSignal(_ cancel: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.cancel = cancel
            return state.status != nil
        }
        if isLate { cancel() }
    }
}

/// Lets running work reach a point from which it can resume before Ctrl-C cancels it.
final class WindDown: Sendable {
    /// The most time to wait for such a point.
    static let longest = Duration.milliseconds(800)

    private let sleep: @Sendable (Duration) async throws -> Void
    private let state = Mutex<(isRequested: Bool, cancel: (@Sendable () -> Void)?)>((false, nil))

    /// Creates the state; `sleep` waits for a duration.
    init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
        self.sleep = sleep
    }

    /// Whether to start no new work.
    var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Requests the end: `cancel` is called at the next such point, or after ``longest``.
    func request(_ cancel: @escaping @Sendable () -> Void) {
        state.withLock { $0 = (true, cancel) }
        Task { [sleep] in
            try? await sleep(Self.longest)
            cancel()
        }
    }

    /// Reports such a point: a requested cancellation happens now.
    func reached() { state.withLock { $0.cancel }?() }

    /// Checks for a requested cancellation between two pieces of work.
    ///
    /// - Throws: `CancellationError` when the next piece must not start.
    func check() throws {
        if isRequested { throw CancellationError() }
    }
}

/// Signals that query or update a running command without ending it.
struct StatusSignals: Sendable {
    /// The kind of signal.
    enum Signal: Hashable, Sendable {
        /// Report the progress: SIGUSR1.
        case report
        /// Read the terminal's size again: SIGWINCH.
        case resize
    }

    /// Starts to listen and returns a closure that stops it.
    var listen: @Sendable (_ onSignal: @escaping @Sendable (Signal) -> Void) -> @Sendable () -> Void

    /// Signals that never arrive.
    static let none = StatusSignals(listen: { _ in {} })
}

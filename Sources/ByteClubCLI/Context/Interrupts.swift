/// How Ctrl-C and SIGTERM reach a command.
struct Interrupts: Sendable {
    /// Starts to listen, and gives what ends it: the first signal is handed on, a second one ends the process at once.
    var listen: @Sendable (_ onSignal: @escaping @Sendable (ExitStatus) -> Void) -> @Sendable () -> Void

    /// Nobody interrupts.
    static let none = Interrupts(listen: { _ in {} })

    /// Runs work that the first signal cancels, or asks to wind down first; it then fails with the signal's status.
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

import Synchronization

/// An output whose many short lines take few writes: they go out together, a moment after the first of them.
///
/// A reader in a pipe is woken once for all of them.
final class GatheredOutput: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var failure: (any Error)?
        /// Ends when what is gathered is due.
        var flush: Task<Void, any Error>?
    }

    private static let most = 1 << 15
    private static let moment = Duration.milliseconds(20)

    private let output: Output
    private let state = Mutex(State())

    init(_ output: Output) { self.output = output }

    /// Takes bytes; throws what these or earlier ones met.
    func write(_ bytes: [UInt8]) throws {
        try state.withLock { state in
            state.bytes += bytes
            if state.bytes.count >= Self.most || state.failure != nil { return try flush(&state) }
            guard state.flush == nil else { return }
            state.flush = Task { [weak self] in
                try await Task.sleep(for: Self.moment)
                try self?.flush()
            }
        }
    }

    /// Writes what is there at once; throws also what earlier bytes met.
    func flush() throws { try state.withLock { try flush(&$0) } }

    private func flush(_ state: inout State) throws {
        state.flush?.cancel()
        state.flush = nil
        let bytes = state.bytes
        state.bytes = []
        if let failure = state.failure { throw failure }
        if bytes.isEmpty { return }
        do { try output.write(bytes) } catch {
            state.failure = error
            throw error
        }
    }
}

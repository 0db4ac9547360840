import Synchronization

/// Lets what is under way come to a place from which it can be gone on with, once somebody pressed Ctrl-C.
final class WindDown: Sendable {
    private struct State {
        var isRequested = false
        var cancel: (@Sendable () -> Void)?
    }

    /// How long it may take.
    static let longest = Duration.milliseconds(800)

    private let sleep: @Sendable (Duration) async throws -> Void
    private let state = Mutex(State())

    /// Begins; `sleep` waits for so long.
    init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
        self.sleep = sleep
    }

    /// Whether no new work is to be taken.
    var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Asks for it: the work is cancelled at the next such place, or after ``longest``.
    func request(_ cancel: @escaping @Sendable () -> Void) {
        state.withLock { ($0.isRequested, $0.cancel) = (true, cancel) }
        Task { [sleep] in
            try? await sleep(Self.longest)
            cancel()
        }
    }

    /// Says that such a place is reached.
    func reached() { state.withLock { $0.cancel }?() }

    /// Says so between two pieces of work.
    ///
    /// - Throws: `CancellationError` when the next one is not to be begun.
    func check() throws {
        if isRequested { throw CancellationError() }
    }
}

import Synchronization

/// A chunk's right to an upload's file, which the next chunk takes away.
final class ChunkLease: Sendable {
    private struct State {
        var isRevoked = false
        var isBusy = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Where the chunk's bytes go.
    let pipeline = ContentPipeline()
    private let state = Mutex(State())

    /// Whether the right was taken away.
    var isRevoked: Bool { state.withLock { $0.isRevoked } }

    /// Runs what must not be cut in two; a revocation waits for its end.
    ///
    /// - Throws: ``Revoked`` when the right is gone already.
    func exclusively<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
        try state.withLock { state in
            if state.isRevoked { throw Revoked() }
            state.isBusy = true
        }
        defer {
            let waiters = state.withLock { state in
                state.isBusy = false
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }
        return try await body()
    }

    /// Takes the right away, and waits until nothing touches the file any more.
    func revoke() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                state.isRevoked = true
                if state.isBusy { state.waiters.append(continuation) }
                return !state.isBusy
            }
            if isFree { continuation.resume() }
        }
        await pipeline.stop(Revoked())
    }

    /// A chunk went on although another one had taken its place.
    struct Revoked: Error {}
}

import Synchronization

/// The owner of the file of an upload in pieces: the newest chunk, or the commit.
final class UploadClaims: Sendable {
    private enum Holder {
        case chunk(ChunkLease)
        case commit
    }

    private struct State {
        var holders: [String: Holder] = [:]
        var tails: [String: (offset: Int64, digests: BlockDigests)] = [:]
    }

    /// How many unfinished blocks' hashes are remembered; others are read again from their files.
    private static let maximumTails = 256

    private let state = Mutex(State())

    /// Makes a chunk the holder, or the commit without one, and waits until the chunk before it has let go of the file.
    ///
    /// - Throws: ``UploadError`` `alreadyCompleted` while the upload is being committed.
    func claim(_ id: String, _ lease: ChunkLease?) async throws {
        let earlier: ChunkLease? = try state.withLock { state in
            switch state.holders.updateValue(lease.map(Holder.chunk) ?? .commit, forKey: id) {
            case .commit:
                state.holders[id] = .commit
                throw UploadError.alreadyCompleted
            case .chunk(let earlier): return earlier
            case nil: return nil
            }
        }
        await earlier?.revoke()
    }

    /// Whether the file of an upload is unused.
    func isIdle(_ id: String) -> Bool { state.withLock { $0.holders[id] == nil } }

    /// Releases an upload, unless another chunk holds it by now.
    func release(_ id: String, _ lease: ChunkLease) {
        state.withLock { state in
            if case .chunk(let holder) = state.holders[id], holder === lease { state.holders[id] = nil }
        }
    }

    /// Ends the claim of a commit.
    func releaseCommit(_ id: String) { state.withLock { $0.holders[id] = nil } }

    /// Remembers the hash of an upload's unfinished block.
    func remember(_ id: String, offset: Int64, digests: BlockDigests) {
        state.withLock { state in
            if state.tails[id] == nil, state.tails.count >= Self.maximumTails, let other = state.tails.keys.first {
                state.tails[other] = nil
            }
            state.tails[id] = (offset, digests)
        }
    }

    /// Forgets the hash of an upload's unfinished block.
    func forget(_ id: String) { state.withLock { $0.tails[id] = nil } }

    /// The hash of the unfinished block before an offset; nil when it must be read again.
    func tail(_ id: String, offset: Int64) -> BlockDigests? {
        state.withLock { state in
            guard let tail = state.tails[id], tail.offset == offset else { return nil }
            return tail.digests
        }
    }
}

/// A chunk's right to an upload's file, which the next chunk revokes.
final class ChunkLease: Sendable {
    private struct State {
        var isRevoked = false
        var isBusy = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// The pipeline for the chunk's bytes.
    let pipeline = ContentPipeline()
    private let state = Mutex(State())

    /// Whether the right was revoked.
    var isRevoked: Bool { state.withLock { $0.isRevoked } }

    /// Runs work that must not be cut in two; a revocation waits for its end.
    ///
    /// - Throws: ``Revoked`` after the right was revoked.
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

    /// Revokes the right, and waits until the file is unused.
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

    /// A chunk went on although another one had replaced it.
    struct Revoked: Error {}
}

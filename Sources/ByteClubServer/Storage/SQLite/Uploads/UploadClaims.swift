import Synchronization

/// Who may touch the file of an upload in pieces: the newest chunk, or the commit.
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

    /// Makes a chunk the holder, and waits until the chunk before it has let go of the file.
    ///
    /// - Throws: ``UploadError`` `alreadyCompleted` while the upload is being committed.
    func claim(_ id: String, _ lease: ChunkLease) async throws {
        let earlier: ChunkLease? = try state.withLock { state in
            switch state.holders[id] {
            case .commit: throw UploadError.alreadyCompleted
            case .chunk(let earlier):
                state.holders[id] = .chunk(lease)
                return earlier
            case nil:
                state.holders[id] = .chunk(lease)
                return nil
            }
        }
        await earlier?.revoke()
    }

    /// Makes the commit the holder, and waits until a chunk before it has let go of the file.
    ///
    /// - Throws: ``UploadError`` `alreadyCompleted` while another commit runs.
    func claimCommit(_ id: String) async throws {
        let earlier: ChunkLease? = try state.withLock { state in
            defer { state.holders[id] = .commit }
            switch state.holders[id] {
            case .commit: throw UploadError.alreadyCompleted
            case .chunk(let earlier): return earlier
            case nil: return nil
            }
        }
        await earlier?.revoke()
    }

    /// Whether nobody touches the file of an upload.
    func isIdle(_ id: String) -> Bool { state.withLock { $0.holders[id] == nil } }

    /// Lets go of an upload, unless somebody else holds it by now.
    func release(_ id: String, _ lease: ChunkLease) {
        state.withLock { state in
            if case .chunk(let holder) = state.holders[id], holder === lease { state.holders[id] = nil }
        }
    }

    /// Ends what ``claimCommit(_:)`` began.
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

    /// Forgets what ``remember(_:offset:digests:)`` was told.
    func forget(_ id: String) { state.withLock { $0.tails[id] = nil } }

    /// The hash of the unfinished block before an offset; nil when it must be read again.
    func tail(_ id: String, offset: Int64) -> BlockDigests? {
        state.withLock { state in
            guard let tail = state.tails[id], tail.offset == offset else { return nil }
            return tail.digests
        }
    }
}

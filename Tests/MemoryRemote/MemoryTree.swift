import ByteClubCore
import Crypto
import Synchronization
import TestSupport

/// The one tree behind all ``MemoryRemote``s of its members.
final class MemoryTree: Sendable {
    private struct Content {
        var folder = MemoryFolderState()
        var blobs: [ContentHash: [UInt8]] = [:]
        var chunks: [ContentHash: [UInt8]] = [:]
        var uploads: [String: [UInt8]] = [:]
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter: UInt64 = 0
        var lastUpload = 0
    }

    /// Distinguishes this tree's numbering from all others.
    let epoch: String
    private let key: SymmetricKey
    private let content = Mutex(Content())
    private static let lastEpoch = Atomic<UInt64>(0)

    /// What the member of a number is called.
    static func name(_ author: Int64) -> String? { "Member \(author)" }

    init() {
        epoch = "memory\(Self.lastEpoch.wrappingAdd(1, ordering: .relaxed).newValue)"
        key = SymmetricKey(data: Array(epoch.utf8))
    }

    /// Runs a reading rule.
    func read<Value: Sendable>(
        now: APIDate, author: Int64, _ rule: (SharedFolder) throws -> Value
    ) throws(RemoteError) -> Value {
        let folder = content.withLock { $0.folder }
        return try RemoteError.mapping {
            try rule(SharedFolder(state: folder, now: now, author: author, names: Self.name))
        }
    }

    /// Runs a writing rule as one transaction and wakes all waiters for a change.
    func write<Value: Sendable>(
        now: APIDate, author: Int64, blobs: [(hash: ContentHash, bytes: [UInt8])] = [],
        _ rule: (inout SharedFolder) throws -> Value
    ) throws(RemoteError) -> Value {
        let (result, woken) = content.withLock { content in
            // Moved out, so that the rules change it in place.
            let before = content.folder.mark
            var folder = SharedFolder(state: content.folder, now: now, author: author, names: Self.name)
            content.folder = MemoryFolderState()
            let result = Result { try rule(&folder) }
            // The rules change the state, and put no other in its place.
            if let changed = folder.state as? MemoryFolderState { content.folder = changed }
            folder.state = MemoryFolderState()
            guard case .success = result else {
                content.folder.undo(to: before)
                return (result, [CheckedContinuation<Void, Never>]())
            }
            for blob in blobs where content.blobs[blob.hash] == nil { content.blobs[blob.hash] = blob.bytes }
            let woken = Array(content.waiting.values)
            content.waiting = [:]
            return (result, woken)
        }
        for waiter in woken { waiter.resume() }
        return try RemoteError.mapping { try result.get() }
    }

    /// The bytes of a hash; nil when they are not stored.
    func blob(_ hash: ContentHash) -> [UInt8]? { content.withLock { $0.blobs[hash] } }

    /// The bytes of a chunk; nil when it was not sent.
    func chunk(_ hash: ContentHash) -> [UInt8]? { content.withLock { $0.chunks[hash] } }

    /// The bytes of an upload; nil when there is none, or a batch has stored it.
    func upload(_ id: String) -> [UInt8]? { content.withLock { $0.uploads[id] } }

    /// Keeps an upload and names it.
    func add(upload bytes: [UInt8]) -> String {
        content.withLock { content in
            content.lastUpload += 1
            let id = "upload\(content.lastUpload)"
            content.uploads[id] = bytes
            return id
        }
    }

    /// Forgets an upload.
    func remove(upload id: String) { content.withLock { $0.uploads[id] = nil } }

    /// Keeps a chunk.
    func add(chunk bytes: [UInt8], hash: ContentHash) { content.withLock { $0.chunks[hash] = bytes } }

    /// The sealed form of a cursor.
    func seal(_ cursor: DeltaCursor) -> String { cursor.sealed(with: key) }

    /// Reads a cursor that this tree gave a member.
    func open(_ text: String, member: Int64) throws(RemoteError) -> DeltaCursor {
        guard let cursor = DeltaCursor(sealed: text, key: key), cursor.member == member else {
            throw RemoteError(.badCursor, "the cursor is not one of this server's")
        }
        return cursor
    }

    /// Returns when a change after `revision` is there, at the deadline, or when the surrounding task is cancelled.
    func change(after revision: Int64, until deadline: ContinuousClock.Instant) async {
        let id = content.withLock { content in
            content.lastWaiter += 1
            return content.lastWaiter
        }
        let timer = Task {
            try? await Task.sleep(until: deadline, clock: .continuous)
            wake(id)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = content.withLock { content in
                    if Task.isCancelled || ContinuousClock.now >= deadline
                        || content.folder.lastRevision() > revision
                    {
                        return true
                    }
                    content.waiting[id] = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            wake(id)
        }
        timer.cancel()
    }

    private func wake(_ id: UInt64) {
        content.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
    }
}

import ByteClubCore
import Synchronization

/// Tells when a transfer has come so far that it is worth keeping.
final class TransferSteps: Sendable {
    /// The bytes of a step.
    static let size: Int64 = 4 << 20
    private let next = Mutex(size)

    /// Whether these bytes complete a step.
    func isNext(_ bytes: Int64) -> Bool {
        next.withLock { next in
            if bytes < next { return false }
            next = bytes + Self.size
            return true
        }
    }
}

extension Mirror {
    /// What tells and keeps a transfer's progress, from any thread.
    func telling(_ item: ItemID, _ path: String) -> @Sendable (TransferProgress) -> Void {
        let steps = TransferSteps()
        return { [weak self, tally, workers = surroundings.workers] progress in
            tally.noteProgress(SyncEvent(.progress, path: path, bytes: progress.completed, total: progress.total))
            if steps.isNext(progress.completed) {
                Task(executorPreference: workers) { await self?.note(item, travelled: progress.completed) }
            }
        }
    }
}

import ByteClubCore
import Synchronization

/// Counts what a sync does and tells it, from any task.
final class Tally: Sendable {
    private let counts = Mutex(SyncSummary())
    private let told = Mutex<Set<String>>([])
    private let shown = Mutex<[String: ContinuousClock.Instant]>([:])
    private let tell: @Sendable (SyncEvent) -> Void

    init(_ tell: @escaping @Sendable (SyncEvent) -> Void) { self.tell = tell }

    var summary: SyncSummary { counts.withLock { $0 } }

    /// Counts an event and passes it on.
    func note(_ event: SyncEvent, nodes: Int = 1) {
        counts.withLock { counts in
            switch event.event {
            case .upload:
                counts.uploaded += 1
                counts.bytesUp += event.bytes ?? 0
            case .download:
                counts.downloaded += 1
                counts.bytesDown += event.bytes ?? 0
            case .deleteLocal: counts.deletedLocal += nodes
            case .deleteRemote: counts.deletedRemote += nodes
            case .moveLocal: counts.movedLocal += 1
            case .moveRemote: counts.movedRemote += 1
            case .merge: counts.merged += 1
            case .conflict: counts.conflicts += 1
            default: break
            }
        }
        tell(event)
    }

    /// Passes on a transfer's progress, at most ten times a second for each path, and always its end.
    func noteProgress(_ event: SyncEvent) {
        let now = ContinuousClock.now
        let isDue = shown.withLock { shown in
            if event.bytes != event.total, let last = shown[event.path ?? ""], now - last < .milliseconds(100) {
                return false
            }
            shown[event.path ?? ""] = now
            return true
        }
        if isDue { tell(event) }
    }

    /// Passes on an event about a lasting state, once a sync.
    func noteOnce(_ event: SyncEvent) {
        let isNew = told.withLock { $0.insert("\(event.event) \(event.path ?? "") \(event.message ?? "")").inserted }
        if isNew { tell(event) }
    }
}

extension RemotePath {
    /// The path as events tell it: relative to the mirror's root.
    var shown: String { String(string.dropFirst()) }
}

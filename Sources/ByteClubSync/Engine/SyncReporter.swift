import ByteClubCore

/// Counts what a sync does and tells it to whoever watches; the session alone uses it.
final class SyncReporter {
    /// What was done so far.
    private(set) var summary = SyncSummary()
    private var once: Set<String> = []
    private let tell: @Sendable (SyncEvent) -> Void

    init(_ tell: @escaping @Sendable (SyncEvent) -> Void) { self.tell = tell }

    /// Counts and passes on what a step has told.
    func emit(_ emissions: [SyncReport.Emission]) {
        for emission in emissions {
            if emission.isOnce { emitOnce(emission.event) } else { emit(emission.event, nodes: emission.nodes) }
        }
    }

    /// Counts an event and passes it on.
    func emit(_ event: SyncEvent, nodes: Int = 1) {
        switch event.event {
        case .upload:
            summary.uploaded += 1
            summary.bytesUp += event.bytes ?? 0
        case .download:
            summary.downloaded += 1
            summary.bytesDown += event.bytes ?? 0
        case .deleteLocal: summary.deletedLocal += nodes
        case .deleteRemote: summary.deletedRemote += nodes
        case .moveLocal: summary.movedLocal += 1
        case .moveRemote: summary.movedRemote += 1
        case .merge: summary.merged += 1
        case .conflict: summary.conflicts += 1
        default: break
        }
        tell(event)
    }

    /// Passes on an event about a lasting state, once a sync.
    func emitOnce(_ event: SyncEvent) {
        if once.insert("\(event.event) \(event.path ?? "") \(event.message ?? "")").inserted { tell(event) }
    }

    /// Passes on a transfer's progress.
    func emitProgress(_ path: String, _ progress: TransferProgress) {
        tell(SyncEvent(.progress, path: path, bytes: progress.completed, total: progress.total))
    }
}

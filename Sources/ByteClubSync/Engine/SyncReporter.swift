import ByteClubCore

/// Counts what a sync does and emits its events; only the session uses it.
final class SyncReporter {
    /// The counts so far.
    private(set) var summary = SyncSummary()
    /// The lasting states that were told, and those that were met since the last conclusion.
    private var (told, met): (Set<String>, Set<String>) = ([], [])
    private let onEvent: @Sendable (SyncEvent) -> Void

    init(_ onEvent: @escaping @Sendable (SyncEvent) -> Void) { self.onEvent = onEvent }

    /// Counts and emits a step's events.
    func emit(_ emissions: [SyncReport.Emission]) {
        for emission in emissions {
            if emission.isOnce { emitOnce(emission.event) } else { emit(emission.event, nodes: emission.nodes) }
        }
    }

    /// Counts and emits an event.
    func emit(_ event: SyncEvent, nodes: Int = 1) {
        summary.count(event, nodes: nodes)
        onEvent(event)
    }

    /// Emits an event about a lasting state, once for as long as it lasts.
    func emitOnce(_ event: SyncEvent) {
        let state = "\(event.event) \(event.path ?? "") \(event.message ?? "")"
        if met.insert(state).inserted, !told.contains(state) { onEvent(event) }
    }

    /// Notes that all lasting states have been met: those that were not are over, and are told again when they come back.
    func conclude() { (told, met) = (met, []) }

    /// Emits a transfer's progress.
    func emitProgress(_ path: String, _ progress: TransferProgress) {
        onEvent(SyncEvent(.progress, path: path, bytes: progress.completed, total: progress.total))
    }
}

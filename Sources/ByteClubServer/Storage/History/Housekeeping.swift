import Logging
import ServiceLifecycle

/// Does while the server runs what time asks for: forgets expired uploads and old history, and frees what nothing uses.
struct Housekeeping: Service {
    /// The interval between two runs of maintenance.
    static let interval = Duration.seconds(3600)
    /// How often it looks whether so much was replaced that old versions may be over their quota.
    private static let historyInterval = Duration.seconds(30)
    /// In every how many rounds contents are collected though nothing was purged; first in the second one.
    private static let collectionRounds = 24

    let store: any MaintenanceStore
    var interval = Self.interval
    let logger: Logger

    /// Runs maintenance at intervals until the server stops; what fails is logged and tried again in the next round.
    func run() async throws {
        var round = 0
        do {
            while true {
                try await cancelWhenGracefulShutdown { [round] in
                    await keepHouse(collecting: round % Self.collectionRounds == 1)
                    try await rest()
                }
                round += 1
            }
        } catch is CancellationError {}
    }

    /// Waits for the next round, and lets it begin early when much was replaced.
    private func rest() async throws {
        guard let quota = store.settings.historyQuota else { return try await Task.sleep(for: interval) }
        let (end, replaced) = (ContinuousClock.now + interval, store.statistics.replacedBytes)
        while ContinuousClock.now < end, store.statistics.replacedBytes - replaced < max(quota / 4, Self.historyStep) {
            try await Task.sleep(for: min(interval, Self.historyInterval))
        }
    }

    /// The least that is replaced before old versions are looked at early, in bytes: looking through them takes its
    /// time.
    private static let historyStep: Int64 = 64 << 20

    /// Does one round.
    func keepHouse(collecting: Bool) async {
        do {
            try await store.markAge()
            try await store.removeExpired()
            let purged = try await store.purgeHistory()
            if purged > 0 { logger.info("purged \(purged) expired versions") }
            let dropped = try await store.dropHistoryOverQuota()
            if dropped > 0 { logger.notice("purged \(dropped) old versions over the history quota") }
            guard collecting || purged + dropped > 0 else { return }
            if let freed = try await store.collectContents(), freed > 0 {
                logger.info("removed \(freed) unreferenced contents")
            }
        } catch is CancellationError {
            return
        } catch {
            logger.warning("housekeeping failed, retrying: \(ServerFault.line(for: error))")
        }
    }
}

import ByteClubCore
import Logging
import ServiceLifecycle

/// Periodic work of a running server: removes expired uploads, old history and unused contents.
struct Housekeeping: Service {
    /// The interval between two runs of maintenance.
    static let interval = Duration.seconds(3600)
    /// The interval at which it checks whether old versions may be over their quota.
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

    /// How many bytes must be replaced before old versions are examined early, which takes long.
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

/// Indexes new texts for searches, without slowing writers.
struct TextIndexing: Service {
    /// How long it gathers changes before it looks at them.
    private static let gathering = Duration.milliseconds(500)
    /// After how long it looks though it heard of no change: another program may have emptied the index.
    private static let interval = Duration.seconds(60)
    /// How long it waits after a failure.
    private static let pause = Duration.seconds(30)
    /// How many times as long as it works it rests while others write, so that they lose a few hundredths at most.
    private static let rest = 30

    let store: any FolderStore & MaintenanceStore
    let logger: Logger

    /// Works until the server stops; what fails is logged and tried again.
    func run() async throws {
        do {
            while true { try await cancelWhenGracefulShutdown { try await work() } }
        } catch is CancellationError {}
    }

    private func work() async throws {
        do {
            let (start, commits) = (ContinuousClock.now, store.statistics.commits.time.count)
            let revision = try await store.indexTexts()
            if store.statistics.commits.time.count > commits + 1 {
                try await Task.sleep(for: start.duration(to: .now) * Self.rest)
            }
            if let revision {
                let isChanged = try await store.waitForChange(after: revision, prefix: .root, timeout: Self.interval)
                if isChanged { try await Task.sleep(for: Self.gathering) }
            }
        } catch let error where !(error is CancellationError) {
            try Task.checkCancellation()
            logger.warning("cannot index texts now, retrying later: \(ServerFault.line(for: error))")
            try await Task.sleep(for: Self.pause)
        }
    }
}

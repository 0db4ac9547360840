import Logging
import ServiceLifecycle

/// Does while the server runs what time asks for: forgets expired uploads and old history, and frees what nothing uses.
struct Housekeeping: Service {
    /// How often it looks round.
    static let interval = Duration.seconds(3600)
    /// In every how many rounds contents are collected though nothing was purged; first in the second one.
    private static let collectionRounds = 24

    let store: SQLiteStore
    var interval = Self.interval
    let logger: Logger

    /// Looks round until the server stops; what fails is logged and tried again in the next round.
    func run() async throws {
        var round = 0
        do {
            while true {
                try await cancelWhenGracefulShutdown { [round] in
                    await keepHouse(collecting: round % Self.collectionRounds == 1)
                    try await Task.sleep(for: interval)
                }
                round += 1
            }
        } catch is CancellationError {}
    }

    /// Does one round.
    func keepHouse(collecting: Bool) async {
        do {
            try await store.markAge()
            try await store.removeExpiredUploads()
            let chunks = store.chunks
            try await ContentPipeline.onDisk { try chunks.removeExpired() }
            let purged = try await store.purgeHistory()
            if purged > 0 { logger.info("forgot \(purged) versions that were replaced long ago") }
            guard collecting || purged > 0 else { return }
            if let freed = try await store.collectContents(), freed > 0 {
                logger.info("removed \(freed) contents that nothing referred to")
            }
        } catch is CancellationError {
            return
        } catch {
            logger.warning("housekeeping failed and is tried again: \(ServerFault.line(for: error))")
        }
    }
}

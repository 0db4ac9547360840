import ByteClubCore
import Logging
import ServiceLifecycle

/// Finds out behind the writers what new photos are, and makes the pictures that pages show of them.
///
/// After a start it looks once at all photos, which costs little where the pictures are there.
struct PhotoIndexing: Service {
    /// How long it gathers changes before it looks at them.
    private static let gathering = Duration.milliseconds(500)
    private static let interval = Duration.seconds(3600)
    /// How long it waits after a failure.
    private static let pause = Duration.seconds(30)
    /// How long it waits before it asks again whether somebody else makes pictures.
    private static let yielding = Duration.milliseconds(50)
    /// How many times as long as it works it rests while others write.
    private static let rest = 5
    private static let page = 200

    let store: any FolderStore & MediaInfoStore & MaintenanceStore
    let media: MediaInfoReader
    let renditions: RenditionStore
    let shelf: PictureShelf
    let logger: Logger

    /// Works until the server stops; what fails is logged and tried again.
    func run() async throws {
        var done: Int64 = 0
        var pruned: ContinuousClock.Instant?
        do {
            while true {
                (done, pruned) = try await cancelWhenGracefulShutdown { [done, pruned] in
                    try await step(after: done, pruned)
                }
            }
        } catch is CancellationError {}
    }

    /// Looks at the next photos, or waits for some; tells up to which change all were looked at.
    private func step(
        after done: Int64, _ pruned: ContinuousClock.Instant?
    ) async throws -> (Int64, ContinuousClock.Instant?) {
        do {
            let entries = try await store.read { try $0.state.journal(after: done, limit: Self.page) }
            for entry in entries {
                if !entry.isFolder, !entry.isDeleted, MediaType(name: entry.path.name).hasThumbnail {
                    try await look(at: entry)
                }
            }
            if let last = entries.last { return (last.revision, pruned) }
            var pruned = pruned
            if pruned.map({ $0.duration(to: .now) > Self.interval }) ?? true {
                try await shelf.prune(keepingPhotosOf: store)
                pruned = .now
            }
            if try await store.waitForChange(after: done, prefix: .root, timeout: Self.interval) {
                try await Task.sleep(for: Self.gathering)
            }
            return (done, pruned)
        } catch {
            try Task.checkCancellation()
            // What else is cancelled found no threads: the server is about to start or to stop.
            if error is CancellationError {
                try await Task.sleep(for: Self.gathering)
            } else {
                logger.warning("photos cannot be looked at now, tried again later: \(ServerFault.line(for: error))")
                try await Task.sleep(for: Self.pause)
            }
            return (done, pruned)
        }
    }

    private func look(at photo: FolderEntry) async throws {
        guard let hash = photo.contentHash else { return }
        while !renditions.isIdle { try await Task.sleep(for: Self.yielding) }
        let (start, commits) = (ContinuousClock.now, store.statistics.commits.time.count)
        let party = Party.stranger(nil)
        do {
            _ = try await media.describe([Metadata(photo)], for: party)
            if photo.bytes <= RenditionStore.sourceLimit {
                try await renditions.makeAll(of: hash, for: party) { try await store.content(of: photo) }
            }
        } catch is APIError {
            // What is no picture, or is asked for by others anyway.
        } catch let error where !(error is CancellationError) {
            // One that is lost must not keep the others from their turn.
            logger.warning("'\(photo.path)' cannot be looked at: \(ServerFault.line(for: error))")
            try await Task.sleep(for: Self.pause)
        }
        if store.statistics.commits.time.count > commits + 1 {
            try await Task.sleep(for: start.duration(to: .now) * Self.rest)
        }
    }
}

import ByteClubCore
import Logging
import ServiceLifecycle

/// Reads the metadata of new photos, and makes their previews, while there are no writes.
///
/// After a start it examines all photos once, which costs little where the previews exist.
struct PhotoIndexing: Service {
    /// How long there must be no writes before it reads new photos.
    private static let gathering = Duration.milliseconds(500)
    /// How long it waits for that.
    private static let patience = Duration.seconds(10)
    private static let interval = Duration.seconds(3600)
    /// How long it waits after a failure.
    private static let pause = Duration.seconds(30)
    /// How long it waits before it checks again whether pictures are made for a request.
    private static let yielding = Duration.milliseconds(50)
    /// How many times as long as it works it rests while others write.
    private static let rest = 5
    private static let page = 200
    /// The free bytes on the disk, beyond the reserve of writers, below which no previews are made ahead.
    private static let spare: Int64 = 1 << 30

    /// How far the work has come.
    private struct Progress {
        /// The change up to which all photos had been examined when this pass began.
        var known: Int64 = 0
        /// How far this pass has come.
        var done: Int64 = 0
        /// How often something had been written then.
        var commits: Int64 = 0
        /// The time of the last removal of surplus pictures.
        var pruned: ContinuousClock.Instant?
        /// The bytes of pictures that may still be made unasked.
        var room: Int64 = 0
    }

    let store: any FolderStore & GalleryStore & MaintenanceStore
    let media: MediaInfoReader
    let pictures: PictureStore
    let logger: Logger

    /// Works until the server stops; failures are logged and retried.
    func run() async throws {
        var progress = Progress()
        do {
            while true {
                progress = try await cancelWhenGracefulShutdown { [progress] in try await step(progress) }
            }
        } catch is CancellationError {}
    }

    /// Looks at the next photos, or waits for some.
    private func step(_ before: Progress) async throws -> Progress {
        var progress = before
        do {
            if progress.pruned.map({ $0.duration(to: .now) > Self.interval }) ?? true {
                progress.room = try await PictureShelf(cache: pictures.cache).prune(keepingPhotosOf: store)
                progress.pruned = .now
            }
            progress.commits = try await commitsAtRest(after: progress.commits)
            let (entries, last) = try await store.read { [progress] in
                (
                    try $0.state.journal(after: progress.done, changedAfter: progress.known, limit: Self.page),
                    try $0.state.lastRevision()
                )
            }
            var photos = entries.filter {
                !$0.isFolder && !$0.isDeleted && MediaType(name: $0.path.name).hasThumbnail
            }[...]
            while !photos.isEmpty {
                let lot = photos.prefix(MediaInfoReader.lot)
                photos = photos.dropFirst(lot.count)
                try await describe(lot)
                for photo in lot { progress.room -= try await picture(photo, room: progress.room) }
                try await pictures.settle()
                try await addPlaceholders(to: lot)
            }
            if entries.count == Self.page, let entry = entries.last {
                progress.done = entry.revision
            } else {
                (progress.known, progress.done) = (last, last)
                _ = try await store.waitForChange(after: last, prefix: .root, timeout: Self.interval)
            }
            return progress
        } catch {
            try Task.checkCancellation()
            // Any other cancellation means that there are no threads: the server is about to start or to stop.
            if error is CancellationError {
                try await Task.sleep(for: Self.gathering)
            } else {
                logger.warning("cannot examine photos now, retrying later: \(ServerFault.line(for: error))")
                try await Task.sleep(for: Self.pause)
            }
            return progress
        }
    }

    /// Waits for a moment without writes, so that the photos of one sync are read after it.
    ///
    /// - Returns: The number of commits so far.
    private func commitsAtRest(after known: Int64) async throws -> Int64 {
        var known = known
        let end = ContinuousClock.now + Self.patience
        while case let commits = Int64(store.statistics.commits.time.count), commits != known, .now < end {
            known = commits
            try await Task.sleep(for: Self.gathering)
        }
        return known
    }

    /// Reads the metadata of some photos, and stores it in one transaction.
    private func describe(_ photos: ArraySlice<FolderEntry>) async throws {
        guard let first = photos.first else { return }
        try await look(at: first.path) {
            _ = try await media.describe(photos.map { Metadata($0) }, for: .stranger(nil))
        }
    }

    /// Makes the previews of a photo, and returns their size in bytes.
    private func picture(_ photo: FolderEntry, room: Int64) async throws -> Int64 {
        guard let hash = photo.contentHash, pictures.previewBytes(of: hash) == 0 else { return 0 }
        // Without room they are made on request.
        guard photo.bytes <= PictureStore.sourceLimit, room > 0, (try? pictures.reserve.check(for: Self.spare)) != nil
        else {
            return 0
        }
        try await look(at: photo.path) {
            try await pictures.makePreviewsAhead(of: hash, for: .stranger(nil)) { try await store.content(of: photo) }
        }
        return pictures.previewBytes(of: hash)
    }

    /// Stores the placeholders of photos that have previews, in one transaction.
    private func addPlaceholders(to photos: ArraySlice<FolderEntry>) async throws {
        let missing = try await store.withoutPlaceholders(photos.compactMap(\.contentHash))
        guard let first = photos.first, !missing.isEmpty else { return }
        try await look(at: first.path) {
            try await store.keep(placeholders: try await pictures.placeholders(of: missing))
        }
    }

    /// Does a part of the work when no request makes pictures, and rests after it while others write.
    private func look(at path: RemotePath, _ work: () async throws -> Void) async throws {
        while !pictures.isIdle { try await Task.sleep(for: Self.yielding) }
        let (start, commits) = (ContinuousClock.now, store.statistics.commits.time.count)
        do {
            try await work()
        } catch is APIError {
            // The content is no picture, or requests make its previews anyway.
        } catch let error where !(error is CancellationError) {
            // One that is lost must not keep the others from their turn.
            logger.warning("'\(path)' cannot be examined: \(ServerFault.line(for: error))")
            if (error as? StorageError)?.code == .full { try await Task.sleep(for: Self.pause) }
        }
        if store.statistics.commits.time.count > commits + 1 {
            try await Task.sleep(for: start.duration(to: .now) * Self.rest)
        }
    }
}

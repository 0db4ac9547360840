import ByteClubCore
import ByteClubMedia
import NIOPosix

/// Reads times, places and shapes of photos: once for each content, on threads that may block.
///
/// A change of the results raises ``MediaInfo/version``.
struct MediaInfoReader: Sendable {
    /// The most contents that one call reads; the rest is reported as pending, and a later call continues.
    static let limit = 2000
    /// The most contents of one turn: their results are stored, and other requesters have a turn, before the next ones.
    static let lot = 32
    /// The bytes that are read of a photo that is not in a file: more than precedes its pixels.
    private static let headerLimit: Int64 = 1 << 20

    /// The contents, and the results for them.
    let store: any FolderStore & GalleryStore
    let threads: NIOThreadPool
    /// The fair queue for the threads.
    let turns: FairSemaphore

    /// As ``describe(_:for:)`` for a request, while its client waits.
    func describe(_ entries: [Metadata], for request: some RequestContext) async throws -> [Metadata] {
        let requester = request.requester
        return try await request.whileClientWaits { try await describe(entries, for: requester) }
    }

    /// Adds the metadata of the pictures and films among some entries; photos that get no turn, or cannot be read now,
    /// are reported as pending.
    func describe(_ entries: [Metadata], for requester: Requester) async throws -> [Metadata] {
        let photos = entries.filter { Self.isPhoto($0) }
        let hashes = Set(photos.compactMap(\.contentHash))
        var known = try await store.mediaInfo(of: Array(hashes))
        let unread = photos.filter { $0.contentHash.map { known[$0] == nil } ?? false }
        known.merge(try await read(unread, for: requester)) { $1 }
        let views = try await store.captionViews(of: photos.map(\.path.key))
        return entries.map { entry in
            var entry = entry
            if Self.isPhoto(entry) {
                var info = entry.contentHash.flatMap { known[$0] } ?? .pending
                if let view = views[entry.path.key] { info.shape = info.shape?.viewed(as: view) }
                entry.photoInfo = info
            } else if !entry.isDeleted, let type = entry.mimeType {
                if type.hasPrefix("image/") { entry.photoInfo = MediaInfo() }
                if type.hasPrefix("video/") { entry.videoInfo = MediaInfo() }
            }
            return entry
        }
    }

    /// The camera's own details of one photo, which no store keeps; nil for a file without any.
    ///
    /// - Throws: ``APIError`` 429 or 503 when too many requests wait, ``StorageError`` when the content is lost;
    ///   `CancellationError`.
    func details(of photo: FolderEntry, for requester: Requester) async throws -> PhotoDetails? {
        let turn = try await turns.wait(for: requester)
        defer { withExtendedLifetime(turn) {} }
        let content = try await store.content(of: photo).local(upTo: Self.headerLimit)
        return try await threads.runIfActive { () throws -> PhotoDetails? in
            switch content {
            case .bytes(let bytes): try? PhotoDetails(bytes: bytes)
            case .file(let path): try? PhotoDetails(file: path, followsLinks: false)
            }
        }
    }

    private static func isPhoto(_ entry: Metadata) -> Bool { entry.hasThumbnail && entry.contentHash != nil }

    private func read(_ photos: [Metadata], for requester: Requester) async throws -> [ContentHash: MediaInfo] {
        var hashes: Set<ContentHash> = []
        var rest = photos.filter { photo in photo.contentHash.map { hashes.insert($0).inserted } ?? false }
            .prefix(Self.limit)
        var found: [ContentHash: MediaInfo] = [:]
        while !rest.isEmpty {
            let lot = rest.prefix(Self.lot)
            rest = rest.dropFirst(Self.lot)
            do {
                let turn = try await turns.wait(for: requester)
                defer { withExtendedLifetime(turn) {} }
                found.merge(try await read(lot: lot)) { $1 }
            } catch is APIError {
                break
            }
        }
        return found
    }

    private func read(lot: ArraySlice<Metadata>) async throws -> [ContentHash: MediaInfo] {
        // Another call may have looked into them while this one waited.
        let known = try await store.mediaInfo(of: lot.compactMap(\.contentHash))
        var found: [ContentHash: MediaInfo] = [:]
        for photo in lot {
            guard let hash = photo.contentHash, known[hash] == nil else { continue }
            do {
                let content = try await store.content(of: FolderEntry(photo)).local(upTo: Self.headerLimit)
                found[hash] = try await threads.runIfActive { try Self.info(in: content) }
            } catch let error where !(error is CancellationError) {
                // A lost content must not hide the results of the others.
                continue
            }
        }
        if !found.isEmpty { try await store.keep(found) }
        return known.merging(found) { $1 }
    }

    private static func info(in content: LocalContent) throws -> MediaInfo {
        let details: PhotoDetails
        do {
            switch content {
            case .bytes(let bytes): details = try PhotoDetails(bytes: bytes)
            case .file(let path): details = try PhotoDetails(file: path, followsLinks: false)
            }
        } catch {
            if error.code == .io { throw error }
            return MediaInfo(shape: try content.shape())
        }
        return MediaInfo(
            taken: details.time.map {
                TakenTime(moment: APIDate(seconds: $0.seconds), offset: $0.zone)
            },
            place: details.place.map { MediaInfo.Place(latitude: $0.latitude, longitude: $0.longitude) },
            shape: try content.shape())
    }
}

extension FolderEntry {
    /// The version of an entry that a client sees, as far as its content is found by it.
    fileprivate init(_ told: Metadata) {
        self.init(
            path: told.path, isFolder: told.isFolder,
            revision: told.rev.flatMap { JournalRevision($0)?.number } ?? 0, bytes: told.bytes,
            contentHash: told.contentHash, modified: APIDate(seconds: 0), author: 0)
    }
}

import ByteClubCore
import ByteClubMedia
import NIOPosix

/// Finds out when and where photos were taken and what they are as pictures: once for each content, on threads that may
/// block.
struct MediaInfoReader: Sendable {
    /// Goes up with every change of what is found: what another version found is read again.
    ///
    /// A migration must delete what older versions found, so that searches know of it (``Schema/keepClocks(_:)``).
    static let version = 4
    /// The most contents that one call looks into; the rest is told as pending, and a later call goes on.
    static let limit = 2000
    /// The most contents of one turn: what is found is kept, and others have theirs, before the next ones are looked
    /// into.
    static let lot = 32
    /// How many bytes of a photo that is in no file are looked into: more than what comes before its picture.
    private static let headerLimit: Int64 = 1 << 20

    private let store: any FolderStore & MediaInfoStore & GalleryStore
    private let threads: NIOThreadPool
    private let turns: FairSemaphore

    /// Reads contents of a store, and keeps there what it finds; `turns` says who may have a thread.
    init(store: any FolderStore & MediaInfoStore & GalleryStore, threads: NIOThreadPool, turns: FairSemaphore) {
        self.store = store
        self.threads = threads
        self.turns = turns
    }

    /// As ``describe(_:for:)`` for who pays for a request, as long as its client waits for it.
    func describe(_ entries: [Metadata], for request: some RequestContext) async throws -> [Metadata] {
        let requester = request.requester
        return try await request.whileClientWaits { try await describe(entries, for: requester) }
    }

    /// Adds what is known of the pictures and films among some entries; what there is no turn for, and what cannot be
    /// read now, is told as pending.
    func describe(_ entries: [Metadata], for requester: Requester) async throws -> [Metadata] {
        let photos = entries.filter { Self.isPhoto($0) }
        let hashes = Set(photos.compactMap(\.contentHash))
        var known = try await store.mediaInfo(of: Array(hashes))
        known.merge(try await read(photos.filter { $0.contentHash.map { known[$0] == nil } ?? false }, for: requester)) {
            $1
        }
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
                // One that is lost must not keep what is known of the others from those who ask.
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
    /// The version that a client is told of, as far as its content is found by it.
    fileprivate init(_ told: Metadata) {
        self.init(
            path: told.path, isFolder: told.isFolder,
            revision: told.rev.flatMap { JournalRevision($0)?.number } ?? 0, bytes: told.bytes,
            contentHash: told.contentHash, modified: APIDate(seconds: 0), author: 0)
    }
}

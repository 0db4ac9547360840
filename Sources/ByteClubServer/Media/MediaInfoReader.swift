import ByteClubCore
import ByteClubMedia
import NIOPosix

/// Finds out when and where photos were taken: once for each content, on threads that may block.
struct MediaInfoReader: Sendable {
    /// The most contents that one call looks into; the rest is told as pending, and a later call goes on.
    static let limit = 2000

    private let store: any MetadataStore
    private let threads: NIOThreadPool

    /// Reads contents of a store, and keeps there what it finds.
    init(store: any MetadataStore, threads: NIOThreadPool) {
        self.store = store
        self.threads = threads
    }

    /// Adds what is known of the pictures and films among some entries.
    func describe(_ entries: [Metadata]) async throws -> [Metadata] {
        let photos = entries.filter { Self.isPhoto($0) }
        let hashes = Set(photos.compactMap(\.contentHash))
        var known = try await store.mediaInfo(of: Array(hashes))
        let unknown = photos.filter { $0.contentHash.map { known[$0] == nil } ?? false }
        if !unknown.isEmpty {
            let found = try await read(unknown)
            try await store.keep(found)
            known.merge(found) { $1 }
        }
        return entries.map { entry in
            var entry = entry
            if Self.isPhoto(entry) {
                entry.photoInfo = entry.contentHash.flatMap { known[$0] } ?? .pending
            } else if !entry.isDeleted, let type = entry.mimeType {
                if type.hasPrefix("image/") { entry.photoInfo = MediaInfo() }
                if type.hasPrefix("video/") { entry.videoInfo = MediaInfo() }
            }
            return entry
        }
    }

    private static func isPhoto(_ entry: Metadata) -> Bool { entry.hasThumbnail && entry.contentHash != nil }

    private func read(_ photos: [Metadata]) async throws -> [ContentHash: MediaInfo] {
        var found: [ContentHash: MediaInfo] = [:]
        for photo in photos {
            guard found.count < Self.limit, let hash = photo.contentHash, found[hash] == nil else { continue }
            let entry = FolderEntry(
                path: photo.path, isFolder: false, revision: photo.rev?.number ?? 0, bytes: photo.bytes,
                contentHash: hash, modified: APIDate(seconds: 0), author: 0)
            let content = try await store.content(of: entry)
            found[hash] = try await threads.runIfActive { try Self.info(in: content) }
        }
        return found
    }

    private static func info(in content: StoredContent) throws -> MediaInfo {
        let details: PhotoDetails
        do {
            switch content {
            case .bytes(let bytes): details = try PhotoDetails(bytes: bytes)
            case .file(let path, _): details = try PhotoDetails(file: path)
            }
        } catch {
            if error.code == .io { throw error }
            return MediaInfo()
        }
        return MediaInfo(
            taken: details.taken.map { APIDate(seconds: $0) },
            place: details.place.map { MediaInfo.Place(latitude: $0.latitude, longitude: $0.longitude) })
    }
}

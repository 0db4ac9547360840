import ByteClubCore
import ByteClubMedia
import NIOCore
import NIOPosix

/// Copies of photos for people without an account, which tell nothing of places and cameras: made once for each content,
/// and kept with the pictures.
struct ShareCopyStore: Sendable {
    /// The longest photo that is copied from memory, where it is in no file.
    private static let sourceLimit: Int64 = 64 << 20
    /// The largest photo that is copied, in bytes.
    private static let copyLimit: Int64 = 256 << 20
    /// Goes up with every change of what copies hold.
    private static let version = 1

    private let cache: ThumbnailCache
    private let scratch: String
    private let threads: NIOThreadPool
    private let turns: SharedPool
    private let copying = SingleFlight<ContentHash, FileBlob>()

    /// Keeps copies in a folder, and makes them on some threads when it is a party's turn.
    init(directory: String, threads: NIOThreadPool, turns: SharedPool) {
        cache = ThumbnailCache(directory: directory)
        scratch = directory
        self.threads = threads
        self.turns = turns
    }

    /// What may be given of a file's content, as its ``PlacelessForm`` says.
    ///
    /// - Throws: ``APIError`` 415 when nothing may, or it cannot be copied, 429 or 503 when too many wait for a copy.
    func content(of entry: FolderEntry, _ content: StoredContent, for party: Party) async throws -> StoredContent {
        guard let hash = entry.contentHash else { return content }
        let name = "\(hash)-share-\(Self.version).jpg"
        if let known = try await NIOThreadPool.singleton.runIfActive({ cache.blob(name) }) { return .blob(known) }
        switch try await PlacelessForm(of: entry, content) {
        case .itself: return content
        case .none: throw PlacelessForm.refusal
        case .copy: break
        }
        guard entry.bytes <= Self.copyLimit else {
            throw APIError(415, "the photo is too large to remove its location")
        }
        return .blob(
            try await copying.value(of: hash) {
                let turn = try await turns.wait(for: party)
                defer { withExtendedLifetime(turn) {} }
                let source = try await content.local(upTo: Self.sourceLimit)
                return try await threads.runIfActive { try copy(source, as: name) }
            })
    }

    private func copy(_ source: LocalContent, as name: String) throws -> FileBlob {
        try source.withFile(in: scratch) { file in
            do throws(MediaError) {
                try cache.make(name) { (path) throws(MediaError) in
                    try ShareCopy.write(file: file, to: path, keepsDate: true)
                }
            } catch {
                if error.code == .io { throw error }
                throw APIError(415, "the location cannot be removed from the photo: \(error.message)")
            }
        }
        guard let copy = cache.blob(name) else { throw StorageError(.full, "no space for a copy of a photo") }
        return copy
    }
}

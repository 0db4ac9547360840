import ByteClubCore
import TestSupport

/// Which photos were taken, and which of them somebody who saw them has taken away.
struct PhotoLedger {
    private(set) var issued: Set<ContentHash> = []
    private(set) var excused: Set<ContentHash> = []
    private(set) var deleted: Set<ContentHash> = []

    mutating func issue(_ bytes: [UInt8]) { issued.insert(ContentHasher.hash(bytes)) }

    /// Somebody replaces or deletes these: they need not be found.
    mutating func excuse(_ photos: Set<ContentHash>) { excused.formUnion(photos) }

    /// These must not be found in a tree any more.
    mutating func delete(_ photos: Set<ContentHash>) { deleted.formUnion(photos) }

    /// The contents of the photos of a tree, by path.
    static func photos(in tree: FileTree) -> [String: ContentHash] {
        var photos: [String: ContentHash] = [:]
        for (path, entry) in tree.entries where isPhoto(path) {
            if case .file(_, let hash) = entry { photos[path] = hash }
        }
        return photos
    }

    static func isPhoto(_ path: String) -> Bool { path.hasSuffix(".jpg") }

    /// Whether the server has a content of more than a block, of a version that is there or was.
    static func isKept(_ hash: ContentHash, byServer data: String) -> Bool {
        LocalFiles.exists("\(data)/blobs/\(hash.description.prefix(2))/\(hash.description.dropFirst(2))")
    }
}

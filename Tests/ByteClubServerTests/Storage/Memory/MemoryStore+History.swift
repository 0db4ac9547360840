import ByteClubCore
import TestSupport

@testable import ByteClubServer

extension MemoryStore {
    func markAge() async throws {
        try change { club in
            club.age = age(of: club)
            club.marks.removeAll { $0.age == club.age.seconds }
            club.marks.append((club.age.seconds, club.folder.lastRevision()))
        }
    }

    func removeExpired() async throws {
        try change { removeExpiredUploads(in: &$0) }
        try await chunks.removeExpired()
    }

    func purgeHistory() async throws -> Int {
        guard let keep = settings.keep else { return 0 }
        return try change { club in
            let bound = age(of: club).seconds - keep
            guard let last = club.marks.last(where: { $0.age <= bound }), last.revision > club.purged else { return 0 }
            let old = club.folder.replaced(after: club.purged, upTo: last.revision)
            for version in old { club.folder.forget(version) }
            club.folder.forget(upTo: last.revision)
            club.purged = last.revision
            club.marks.removeAll { $0.age < last.age }
            return old.count
        }
    }

    func dropHistoryOverQuota() async throws -> Int {
        guard let quota = settings.historyQuota else { return 0 }
        return try change { club in
            let surplus = Self.surplus(over: quota, in: club.folder)
            for version in surplus { club.folder.forget(version) }
            return surplus.count
        }
    }

    /// The old versions that are too many, the longest replaced first.
    ///
    /// What a live file has too takes no room of its own; what several versions of a member have takes it once.
    private static func surplus(over quota: Int64, in folder: MemoryFolderState) -> [FolderEntry] {
        struct Owned: Hashable {
            let author: Int64
            let content: ContentHash?
        }
        let live = Set(folder.descendants(.root, limit: .max).compactMap(\.contentHash))
        let old = folder.replaced(after: 0, upTo: .max).filter { version in
            version.bytes > 0 && version.contentHash.map { !live.contains($0) } ?? false
        }
        var uses: [Owned: Int] = [:]
        var sums: [Int64: Int64] = [:]
        for version in old {
            let owned = Owned(author: version.author, content: version.contentHash)
            if uses[owned] == nil { sums[version.author, default: 0] += version.bytes }
            uses[owned, default: 0] += 1
        }
        return old.filter { version in
            let owned = Owned(author: version.author, content: version.contentHash)
            guard let sum = sums[version.author], sum > quota, let count = uses[owned] else { return false }
            uses[owned] = count - 1
            if count == 1 { sums[version.author] = sum - version.bytes }
            return true
        }
    }

    func collectContents() async throws -> Int? {
        var large: [ContentHash] = []
        for byte in UInt8.min...UInt8.max { large += try await blobs.contents(beginning: byte) }
        return try change { [large] club in
            // In the turn of a change, so that none can begin to use a content that is just going.
            let used = Set(club.folder.versions(after: 0).compactMap(\.contentHash))
            let unused = (Array(club.contents.keys) + large).filter { !used.contains($0) }
            for hash in unused {
                (club.contents[hash], club.photos[hash]) = (nil, nil)
                blobs.remove(hash)
            }
            return unused.count
        }
    }
}

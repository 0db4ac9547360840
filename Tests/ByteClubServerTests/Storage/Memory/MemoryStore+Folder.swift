import ByteClubCore
import TestSupport

@testable import ByteClubServer

extension MemoryStore {
    func read<T: Sendable>(
        _ body: @escaping @Sendable (SharedFolder) throws -> T
    ) async throws -> T {
        let now = now
        return try query { club in
            try body(SharedFolder(state: club.folder, now: now, author: 0, names: club.name))
        }
    }

    func write<T: Sendable>(
        by author: Int64, storing contents: [StagedContent],
        _ body: @escaping @Sendable (inout SharedFolder) throws -> T
    ) async throws -> T {
        let now = now
        let (result, made) = try change { club in
            let before = club.folder.lastRevision()
            let usage = club.usage()
            var folder = SharedFolder(state: club.folder, now: now, author: author, names: club.name)
            let result = try body(&folder)
            guard let state = folder.state as? MemoryFolderState else {
                throw StorageError(.io, "the folder was exchanged for another")
            }
            club.folder = state
            for upload in contents.lazy.compactMap(\.upload) { try club.complete(upload) }
            let made = state.versions(after: before)
            try check(club.usage(), since: usage)
            try store(contents, of: made, in: &club)
            club.statistics.replacedBytes += state.replaced(after: before, upTo: .max).reduce(0) { $0 + $1.bytes }
            return (result, made)
        }
        if let last = made.last { signal.notify(made, below: [], upTo: last.revision) }
        return result
    }

    private func check(_ usage: UsageChange, since before: UsageChange) throws {
        try settings.checkClub(growing: usage.club - before.club) { usage.club }
        for (uid, now) in usage.members {
            try settings.checkMember(uid, growing: now - before.members[uid, default: Usage()]) { now }
        }
    }

    /// Keeps the contents that new versions have.
    private func store(_ contents: [StagedContent], of made: [FolderEntry], in club: inout MemoryClub) throws {
        let used = Set(made.lazy.compactMap(\.contentHash))
        var publication = blobs.publication()
        do {
            for content in contents where used.contains(content.hash) {
                switch content.place {
                case .inline(let bytes): club.contents[content.hash] = bytes
                case .blob(let blob): try publication.publish(blob, as: content.hash, length: content.bytes)
                }
            }
            try publication.sync()
        } catch {
            publication.undo()
            throw error
        }
    }

    func waitForChange(after revision: Int64, prefix: PathKey, timeout: Duration) async throws -> Bool {
        try await signal.wait(after: revision, prefix: prefix, timeout: timeout) {
            try query { !$0.folder.changes(after: revision, prefix: prefix, includeDeleted: true, limit: 1).isEmpty }
        }
    }

    func file(
        _ path: RemotePath, revision: JournalRevision?
    ) async throws -> (entry: FolderEntry, content: StoredContent) {
        let now = now
        return try query { club in
            let entry = try SharedFolder(state: club.folder, now: now, author: 0).file(path, revision: revision)
            return (entry, try content(of: entry, in: club))
        }
    }

    func content(of entry: FolderEntry) async throws -> StoredContent { try query { try content(of: entry, in: $0) } }

    private func content(of entry: FolderEntry, in club: MemoryClub) throws -> StoredContent {
        guard let hash = entry.contentHash else {
            throw StorageError(.damaged, "'\(entry.path)' has no content in this version")
        }
        if entry.bytes > Int64(StagedContent.inlineLimit) { return .blob(blobs.blob(hash, length: entry.bytes)) }
        guard let bytes = club.contents[hash] else {
            throw StorageError(.damaged, "the content of '\(entry.path)' is missing")
        }
        return .bytes(bytes)
    }

    func journal(
        after cursor: JournalCursor?, besides writer: OperationWriter?, limits: JournalLimits
    ) async throws -> (page: SyncPage, bodies: [[UInt8]]) {
        let now = now
        return try query { club in
            let folder = SharedFolder(state: club.folder, now: now, author: 0, names: club.name)
            let limits = try folder.limits(limits, besides: writer, after: cursor)
            let (entries, next, hasMore) = try folder.journal(after: cursor, epoch: epoch, limits: limits)
            let bodies = try entries.filter(limits.takes).map { entry in
                guard let bytes = entry.contentHash.flatMap({ club.contents[$0] }) else {
                    throw StorageError(.damaged, "the content of '\(entry.path)' is missing")
                }
                return bytes
            }
            let page = try SyncPage(
                entries, of: folder, after: cursor, next: next, hasMore: hasMore, limits: limits)
            return (page, bodies)
        }
    }

    func searchTexts(
        _ path: RemotePath, query: TextQuery, includeDeleted: Bool, limit: Int
    ) async throws -> TextSearchResults {
        let now = now
        // Large contents are read before, since the folder's rules wait for nothing.
        let large = try self.query { club in
            club.folder.versions(after: 0).filter {
                Int64(StagedContent.inlineLimit)..<Int64(FoldedText.maximumBytes) + 1 ~= $0.bytes
            }
        }
        var texts: [ContentHash: [UInt8]] = [:]
        for entry in large {
            guard let hash = entry.contentHash else { continue }
            if case .bytes(let bytes) = try await content(of: entry).local(upTo: entry.bytes) { texts[hash] = bytes }
        }
        let known = texts
        return try self.query { club in
            let folder = SharedFolder(state: club.folder, now: now, author: 0, names: club.name)
            return try folder.searchTexts(path, query: query, includeDeleted: includeDeleted, limit: limit) { entry in
                entry.contentHash.flatMap { club.contents[$0] ?? known[$0] }
            }
        }
    }

    func indexTexts() async throws -> Int64? { try query { $0.folder.lastRevision() } }

    func forgetTexts() async throws {}

    func mediaInfo(of hashes: [ContentHash]) async throws -> [ContentHash: MediaInfo] {
        try query { club in club.photos.filter { hashes.contains($0.key) } }
    }

    func keep(_ found: [ContentHash: MediaInfo]) async throws {
        try change { $0.photos.merge(found) { $1 } }
    }

    func photos(with hash: ContentHash, limit: Int) async throws -> [FolderEntry] {
        try query { club in
            let photos = club.folder.versions(after: 0).filter { entry in
                entry.contentHash == hash && MediaType(name: entry.path.name).hasThumbnail
                    && club.folder.current(entry.node)?.revision == entry.revision
            }
            return Array(photos.prefix(limit))
        }
    }

    func withoutPhotos(_ hashes: [ContentHash]) async throws -> [ContentHash] {
        try query { club in
            let photos = club.folder.versions(after: 0).filter { MediaType(name: $0.path.name).hasThumbnail }
            let used = Set(photos.compactMap(\.contentHash))
            return hashes.filter { !used.contains($0) }
        }
    }
}

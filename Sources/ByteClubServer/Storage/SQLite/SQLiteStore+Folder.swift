import ByteClubCore
import GRDB

extension SQLiteStore {
    func read<T: Sendable>(
        _ body: @escaping @Sendable (SharedFolder) throws -> T
    ) async throws -> T {
        try await readFolder { folder, _ in try body(folder) }
    }

    /// Runs a closure on a snapshot of the folder and on the database that has it.
    func readFolder<T: Sendable>(
        _ body: @escaping @Sendable (SharedFolder, Database) throws -> T
    ) async throws -> T {
        let now = now()
        return try await query { [self] database in
            let state = SQLiteFolderState(reading: database)
            return try body(SharedFolder(state: state, now: now, author: 0, names: names(in: database)), database)
        }
    }

    func write<T: Sendable>(
        by author: Int64, storing contents: [StagedContent],
        _ body: @escaping @Sendable (inout SharedFolder) throws -> T
    ) async throws -> T {
        let now = now()
        let perform = {
            try await self.writer.perform(bytes: contents.reduce(0) { $0 + $1.inlineBytes }) { transaction in
                let state = SQLiteFolderState(writing: transaction)
                var folder = SharedFolder(
                    state: state, now: now, author: author, names: self.names(in: transaction.database))
                let result = try body(&folder)
                for upload in contents.lazy.compactMap(\.upload) { try Self.complete(upload, in: transaction) }
                let used = Set(transaction.made.entries.lazy.compactMap(\.contentHash))
                try transaction.store(contents.filter { used.contains($0.hash) })
                // A file that already has this content made no version; a content that was lost is restored here.
                if used.isEmpty, let content = contents.first, try transaction.lacks(content) {
                    try transaction.store([content])
                }
                return result
            }
        }
        guard let upload = contents.lazy.compactMap(\.upload).first else { return try await perform() }
        return try await committing(upload) { try await perform() }
    }

    func waitForChange(after revision: Int64, prefix: PathKey, timeout: Duration) async throws -> Bool {
        try await signal.wait(after: revision, prefix: prefix, timeout: timeout) {
            try await query { database in
                try !SQLiteFolderState(reading: database)
                    .changes(after: revision, prefix: prefix, includeDeleted: true, limit: 1).isEmpty
            }
        }
    }

    func file(
        _ path: RemotePath, revision: JournalRevision?
    ) async throws -> (entry: FolderEntry, content: StoredContent) {
        let (now, blobs) = (now(), blobs)
        return try await query { database in
            let state = SQLiteFolderState(reading: database)
            let entry = try SharedFolder(state: state, now: now, author: 0).file(path, revision: revision)
            return (entry, try Self.content(of: entry, in: database, blobs))
        }
    }

    func content(of entry: FolderEntry) async throws -> StoredContent {
        let blobs = blobs
        return try await query { try Self.content(of: entry, in: $0, blobs) }
    }

    private static func content(
        of entry: FolderEntry, in database: Database, _ blobs: any BlobStore
    ) throws -> StoredContent {
        guard let hash = entry.contentHash else {
            throw StorageError(.damaged, "'\(entry.path)' has no content in this version")
        }
        if entry.bytes > Int64(StagedContent.inlineLimit) { return .blob(blobs.blob(hash, length: entry.bytes)) }
        guard let bytes = try database.content(hash) else {
            throw StorageError(.damaged, "the content of '\(entry.path)' is missing")
        }
        return .bytes(bytes)
    }

    func journal(
        after cursor: JournalCursor?, besides writer: OperationWriter?, limits: JournalLimits
    ) async throws -> (page: SyncPage, bodies: [[UInt8]]) {
        let epoch = epoch
        return try await readFolder { folder, database in
            let limits = try folder.limits(limits, besides: writer, after: cursor)
            let (entries, next, hasMore) = try folder.journal(after: cursor, epoch: epoch, limits: limits)
            var bodies: [[UInt8]] = []
            for entry in entries where limits.takes(entry) {
                guard let bytes = try entry.contentHash.flatMap(database.content), Int64(bytes.count) == entry.bytes
                else {
                    throw StorageError(.damaged, "the content of '\(entry.path)' is missing")
                }
                bodies.append(bytes)
            }
            let page = try SyncPage(
                entries, of: folder, after: cursor, next: next, hasMore: hasMore, limits: limits)
            return (page, bodies)
        }
    }
}

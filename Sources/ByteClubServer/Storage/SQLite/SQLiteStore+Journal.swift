import ByteClubCore
import GRDB

extension SQLiteStore {
    func journal(
        after cursor: JournalCursor?, besides writer: OperationWriter?, limits: JournalLimits
    ) async throws -> (page: SyncPage, bodies: [[UInt8]]) {
        let (epoch, now) = (epoch, now())
        return try await query { [self] database in
            let folder = SharedFolder(
                state: SQLiteFolderState(reading: database), now: now, author: 0, names: names(in: database))
            let limits = try folder.limits(limits, besides: writer, after: cursor)
            let (entries, next, hasMore) = try folder.journal(after: cursor, epoch: epoch, limits: limits)
            var bodies: [[UInt8]] = []
            for entry in entries where limits.takes(entry) {
                let bytes = try entry.contentHash.flatMap { hash in
                    try database.firstRow("SELECT bytes FROM content WHERE hash = ?", [hash.data]) { $0.bytes(0) ?? [] }
                }
                guard let bytes, Int64(bytes.count) == entry.bytes else {
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

import ByteClubCore
import FoundationEssentials
import GRDB

extension SQLiteStore {
    func searchTexts(
        _ path: RemotePath, query: TextQuery, includeDeleted: Bool, limit: Int
    ) async throws -> TextSearchResults {
        let files = files
        return try await readFolder { folder, database in
            let place = try folder.existing(path)
            var search = TextSearch(
                query: query, folder: place.path.key, includeDeleted: includeDeleted, limit: limit,
                index: SearchIndex(database: database, files: files))
            return try search.run(describe: folder.describe)
        }
    }

    /// About how many bytes the index writes for one of a text, sooner or later.
    private static let writtenPerByte = 4

    func indexTexts() async throws -> Int64? {
        let files = files
        let step = try await query { try SearchIndex(database: $0, files: files).step() }
        if step.end > step.start {
            if !step.new.isEmpty { try files.reserve.check() }
            let isDone = try await writer.perform(bytes: step.bytes * Self.writtenPerByte) { transaction in
                try transaction.beginChange()
                return try SearchIndex(database: transaction.database, files: files).perform(step)
            }
            if !isDone { return nil }
        }
        return step.isLast ? step.end : nil
    }

    func forgetTexts() async throws {
        try await writer.perform { transaction in
            try transaction.beginChange()
            try SearchIndex.reset(in: transaction.database)
        }
    }

    /// Removes from the index the texts of deleted files that history does not keep any more; their names stay.
    func forgetDeletedTexts() async throws {
        let files = files
        let forgotten = try await query { database in
            try database.rows(
                """
                SELECT s.id, s.node, s.name, s.hash FROM searchable s JOIN node n ON n.id = s.node
                JOIN version v ON v.revision = n.revision
                LEFT JOIN version p ON p.revision = v.previous AND p.node = v.node
                WHERE v.kind = 2 AND s.hash IS NOT NULL AND p.hash IS NOT s.hash
                """
            ) { row in
                SearchIndex.Document(id: row[0], node: row[1], name: row[2], hash: row.hash(3))
            }
        }
        for document in forgotten {
            try await writer.perform { transaction in
                try transaction.beginChange()
                let index = SearchIndex(database: transaction.database, files: files)
                guard try index.has(document) else { return }
                var old = document
                old.words = try index.words(of: document)
                try index.remove(old)
                (old.hash, old.words) = (nil, "")
                try index.add(old)
            }
        }
    }

    /// Empties an index that was made by other rules.
    static func checkIndex(_ pool: DatabasePool) throws {
        let known: Int64 = try pool.read { try $0.meta(Schema.Meta.folding) ?? 0 }
        if known != FoldedText.version { try pool.write { try SearchIndex.reset(in: $0) } }
    }
}

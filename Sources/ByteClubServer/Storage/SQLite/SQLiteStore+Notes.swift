import ByteClubCore
import GRDB

extension SQLiteStore {
    func notes(limit: Int) async throws -> [NoteItem] {
        let sql = """
            WITH page AS (
                SELECT g.date, g.revision FROM gallery_item g CROSS JOIN latest l ON l.revision = g.revision
                WHERE g.kind IS NULL AND NOT (substr(l.key, -3) = '.md' AND EXISTS (
                    SELECT 1 FROM latest p JOIN gallery_item h ON h.revision = p.revision
                    WHERE p.key = substr(l.key, 1, length(l.key) - 3) AND h.kind IS NOT NULL))
                ORDER BY g.date DESC, g.revision DESC LIMIT ?)
            SELECT page.date, substr(c.bytes, 1, \(GalleryItem.textLimit)), \(SQLiteFolderState.columns)
            FROM page JOIN version v ON v.revision = page.revision LEFT JOIN content c ON c.hash = v.hash
            ORDER BY page.date DESC, page.revision DESC
            """
        return try await query { database in
            try database.rows(sql, [limit]) { row in
                NoteItem(
                    entry: try SQLiteFolderState.entry(row, at: 2), date: APIDate(seconds: row[0]), text: row.bytes(1))
            }
        }
    }
}

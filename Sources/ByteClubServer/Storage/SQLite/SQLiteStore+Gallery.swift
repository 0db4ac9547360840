import ByteClubCore
import GRDB

extension SQLiteStore {
    // The page is chosen by dates and numbers alone, so that what is sorted is small; texts are read for it only.
    private static func gallery(_ comparison: String, _ order: String) -> String {
        """
        WITH item AS (
            SELECT l.key, l.revision, v.hash, \(isNote) AS note,
                coalesce(m.taken, v.client_modified / 1000000000, v.modified) AS date
            FROM latest l JOIN version v ON v.revision = l.revision LEFT JOIN media_info m ON m.hash = v.hash
            WHERE v.kind = 0 AND (\(isNote) OR \(isPhoto("l.key")))
            AND NOT (l.key LIKE '%.md' AND \(isPhoto("substr(l.key, 1, length(l.key) - 3)")) AND EXISTS (
                SELECT 1 FROM latest p JOIN version q ON q.revision = p.revision
                WHERE p.key = substr(l.key, 1, length(l.key) - 3) AND q.kind = 0))),
        page AS (
            SELECT * FROM item WHERE (date, revision) \(comparison) (?, ?)
            ORDER BY date \(order), revision \(order) LIMIT ?)
        SELECT page.date, substr(c.bytes, 1, \(GalleryItem.textLimit)), \(SQLiteFolderState.columns)
        FROM page JOIN version v ON v.revision = page.revision
        LEFT JOIN latest beside ON page.note = 0 AND beside.key = page.key || '.md'
        LEFT JOIN version caption ON caption.revision = beside.revision AND caption.kind = 0
        LEFT JOIN content c ON c.hash = CASE WHEN page.note THEN page.hash ELSE caption.hash END
        ORDER BY page.date \(order), page.revision \(order)
        """
    }

    private static let isNote = ends(GalleryKind.notes, of: "l.key")
    private static func isPhoto(_ key: String) -> String { ends(GalleryKind.photos, of: key) }

    private static func ends(_ ends: [String], of key: String) -> String {
        "(" + ends.map { "\(key) LIKE '%.\($0)'" }.joined(separator: " OR ") + ")"
    }

    private static let older = gallery("<", "DESC")
    private static let newer = gallery(">", "ASC")

    func gallery(_ side: GallerySide, limit: Int) async throws -> [GalleryItem] {
        let (sql, place) =
            switch side {
            case .older(let place): (Self.older, place)
            case .newer(let place): (Self.newer, place)
            }
        return try await query { database in
            try database.rows(sql, [place.seconds, place.revision, limit]) { row in
                GalleryItem(
                    entry: try SQLiteFolderState.entry(row, at: 2), date: APIDate(seconds: row[0]), text: row.bytes(1))
            }
        }
    }
}

import ByteClubCore
import GRDB

extension SQLiteStore {
    // The page is chosen by dates and numbers alone, which an index has in this order; texts are read for it only.
    private static func gallery(_ comparison: String, _ order: String, kinds: Int?) -> String {
        let place = "(g.date, g.revision) \(comparison) (:date, :revision)"
        let columns = "g.date, g.revision, l.key"
        let all = """
            SELECT \(columns) FROM gallery_item g CROSS JOIN latest l ON l.revision = g.revision
            WHERE \(place) AND NOT (substr(l.key, -3) = '.md' AND EXISTS (
                SELECT 1 FROM latest p JOIN gallery_item h ON h.revision = p.revision
                WHERE p.key = substr(l.key, 1, length(l.key) - 3) AND h.kind IS NOT NULL))
            """
        // One after the other in the order of the index, which SQLite merges; of a list of kinds it would sort all.
        let some = { (count: Int) in
            (0..<count).map { index in
                """
                SELECT \(columns) FROM gallery_item g CROSS JOIN latest l ON l.revision = g.revision
                WHERE g.kind = :kind\(index) AND \(place)
                """
            }.joined(separator: " UNION ALL ")
        }
        return """
            WITH page AS (\(kinds.map(some) ?? all) ORDER BY 1 \(order), 2 \(order) LIMIT :limit)
            SELECT page.date, substr(c.bytes, 1, \(GalleryItem.textLimit)), \(SQLiteFolderState.columns)
            FROM page JOIN version v ON v.revision = page.revision
            LEFT JOIN gallery_item photo ON photo.revision = page.revision AND photo.kind IS NOT NULL
            LEFT JOIN latest beside ON beside.key = page.key || '.md' AND photo.revision IS NOT NULL
            LEFT JOIN version caption ON caption.revision = beside.revision AND caption.kind = 0
            LEFT JOIN content c ON c.hash = CASE WHEN photo.revision IS NULL THEN v.hash ELSE caption.hash END
            ORDER BY page.date \(order), page.revision \(order)
            """
    }

    func gallery(_ side: GallerySide, of kinds: Set<PhotoShape.Kind>?, limit: Int) async throws -> [GalleryItem] {
        if kinds?.isEmpty == true { return [] }
        let (comparison, order, place) =
            switch side {
            case .older(let place): ("<", "DESC", place)
            case .newer(let place): (">", "ASC", place)
            }
        let sql = Self.gallery(comparison, order, kinds: kinds?.count)
        var arguments: StatementArguments = [
            "date": place.seconds, "revision": place.revision, "limit": limit,
        ]
        for (index, kind) in (kinds ?? []).enumerated() { arguments += ["kind\(index)": kind.rawValue] }
        return try await query { [arguments] database in
            try database.rows(sql, arguments) { row in
                GalleryItem(
                    entry: try SQLiteFolderState.entry(row, at: 2), date: APIDate(seconds: row[0]), text: row.bytes(1))
            }
        }
    }

    func galleryMonths(limit: Int) async throws -> [APIDate] {
        try await query { database in
            try database.rows(
                """
                WITH RECURSIVE month(newest) AS (
                    SELECT max(date) FROM gallery_item
                    UNION ALL
                    SELECT (SELECT max(date) FROM gallery_item
                        WHERE date < CAST(strftime('%s', newest, 'unixepoch', 'start of month') AS INTEGER))
                    FROM month WHERE newest IS NOT NULL)
                SELECT newest FROM month WHERE newest IS NOT NULL LIMIT ?
                """, [limit]
            ) { APIDate(seconds: $0[0]) }
        }
    }

    func photos(
        below path: RemotePath, matching filter: PhotoFilter, named name: SearchQuery?, limit: Int
    ) async throws -> [Metadata] {
        let now = now()
        return try await query { [self] database in
            let state = SQLiteFolderState(reading: database)
            let folder = SharedFolder(state: state, now: now, author: 0, names: names(in: database))
            let place = try folder.metadata(path)
            if place.isDeleted { throw APIError.notFound(path) }
            var found: [Metadata] = []
            guard let search = Self.search(filter) else { return found }
            let rows = try Row.fetchCursor(database.cachedStatement(sql: search.sql), arguments: search.arguments)
            while found.count < limit, let row = try rows.next() {
                if let near = filter.near, let latitude: Double = row[1], let longitude: Double = row[2],
                    !near.contains(MediaInfo.Place(latitude: latitude, longitude: longitude))
                {
                    continue
                }
                guard let entry = try Self.version(row[0], in: database), entry.path.key.isBelow(place.path.key),
                    name?.matches(entry.path.name) ?? true
                else { continue }
                found.append(try folder.describe(entry))
            }
            return found
        }
    }

    func unreadPhotos(below path: RemotePath, limit: Int) async throws -> [FolderEntry] {
        let folder = path.key
        return try await query { database in
            var found: [FolderEntry] = []
            let rows = try Row.fetchCursor(
                database.cachedStatement(
                    sql: "SELECT revision FROM gallery_item WHERE pending = 1 ORDER BY revision DESC"))
            while found.count < limit, let row = try rows.next() {
                if let entry = try Self.version(row[0], in: database), entry.path.key.isBelow(folder) {
                    found.append(entry)
                }
            }
            return found
        }
    }

    private static func version(_ revision: Int64, in database: Database) throws -> FolderEntry? {
        try database.firstRow(
            "SELECT \(SQLiteFolderState.columns) FROM version v WHERE v.revision = ?", [revision],
            SQLiteFolderState.entry)
    }

    /// The query for the numbers and places of photos that may match, the newest first; nil when none can.
    ///
    /// Around a place it looks at the photos there, else in the order of dates.
    private static func search(_ filter: PhotoFilter) -> (sql: String, arguments: StatementArguments)? {
        var arguments: StatementArguments = [
            "since": filter.since?.seconds ?? .min, "until": filter.until?.seconds ?? .max,
        ]
        // No photo has the last date that there can be.
        let dates = "date >= :since AND date < :until"
        let columns = "SELECT revision, latitude, longitude, date FROM gallery_item"
        let kinds = (filter.kinds ?? []).map(\.rawValue).sorted()
        if filter.kinds != nil, kinds.isEmpty { return nil }
        for (index, kind) in kinds.enumerated() { arguments += ["kind\(index)": kind] }
        let parts: [String]
        if let near = filter.near {
            let ofKinds =
                kinds.isEmpty ? "" : "AND kind IN (\(kinds.indices.map { ":kind\($0)" }.joined(separator: ", ")))"
            arguments += ["south": near.latitudes.lowerBound, "north": near.latitudes.upperBound]
            parts = near.longitudes.enumerated().map { index, range in
                arguments += ["west\(index)": range.lowerBound, "east\(index)": range.upperBound]
                return """
                    \(columns) INDEXED BY gallery_place WHERE latitude BETWEEN :south AND :north
                    AND longitude BETWEEN :west\(index) AND :east\(index) AND \(dates) \(ofKinds)
                    """
            }
        } else if kinds.isEmpty {
            parts = ["\(columns) WHERE kind IS NOT NULL AND \(dates)"]
        } else {
            parts = kinds.indices.map { "\(columns) WHERE kind = :kind\($0) AND \(dates)" }
        }
        return (parts.joined(separator: " UNION ALL ") + " ORDER BY date DESC, revision DESC", arguments)
    }

    func captions(of photos: [PathKey]) async throws -> [PathKey: [UInt8]] {
        try await beside(photos, "bytes FROM content") { $0.bytes(0) }
    }

    func captionViews(of photos: [PathKey]) async throws -> [PathKey: PhotoShape.Kind] {
        try await beside(photos, "view FROM caption_view") { PhotoShape.Kind(rawValue: $0[0] as String) }
    }

    /// Something of the captions of photos, all from one snapshot.
    private func beside<T: Sendable>(
        _ photos: [PathKey], _ source: String, _ read: @escaping @Sendable (Row) -> T?
    ) async throws -> [PathKey: T] {
        if photos.isEmpty { return [:] }
        return try await query { database in
            var found: [PathKey: T] = [:]
            for photo in photos {
                found[photo] =
                    try database.firstRow(
                        """
                        SELECT \(source) WHERE hash = (
                            SELECT v.hash FROM latest l JOIN version v ON v.revision = l.revision
                            WHERE l.key = ? AND v.kind = 0)
                        """, [PhotoCaption.key(of: photo).sorting], read) ?? nil
            }
            return found
        }
    }
}

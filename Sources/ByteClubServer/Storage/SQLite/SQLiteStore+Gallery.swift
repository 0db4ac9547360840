import ByteClubCore
import GRDB

extension SQLiteStore {
    func galleryPlace(of revision: Int64) async throws -> GalleryPlace? {
        try await query { database in
            try database.rows("SELECT date FROM gallery_item WHERE revision = ?", [revision]) { row in
                GalleryPlace(seconds: row[0], revision: revision)
            }.first
        }
    }

    func photos(
        below path: RemotePath, matching filter: PhotoFilter, named name: SearchQuery?, limit: Int
    ) async throws -> [Metadata] {
        try await readFolder { folder, database in
            let state = SQLiteFolderState(reading: database)
            let place = try folder.existing(path)
            var found: [Metadata] = []
            guard let search = Self.search(filter, below: place.path.key) else { return found }
            let rows = try Row.fetchCursor(database.cachedStatement(sql: search.sql), arguments: search.arguments)
            while found.count < limit, let row = try rows.next() {
                if let near = filter.near, let latitude: Double = row[1], let longitude: Double = row[2],
                    !near.contains(MediaInfo.Place(latitude: latitude, longitude: longitude))
                {
                    continue
                }
                guard let entry = try state.version(row[0]), name?.matches(entry.path.name) ?? true else { continue }
                found.append(try folder.describe(entry))
            }
            return found
        }
    }

    func unreadPhotos(below path: RemotePath, limit: Int) async throws -> [FolderEntry] {
        let (after, before) = path.key.sortingBelow
        return try await query { database in
            try database.rows(
                """
                SELECT \(SQLiteFolderState.columns) FROM gallery_item g CROSS JOIN latest l ON l.revision = g.revision
                CROSS JOIN version v ON v.revision = g.revision
                WHERE g.pending = 1 AND l.key > ? AND l.key < ? ORDER BY g.revision DESC LIMIT ?
                """, [after, before, limit], SQLiteFolderState.entry)
        }
    }

    /// The query for the numbers and places of photos below a folder that may match, the newest first; nil when none
    /// can.
    ///
    /// Around a place it looks at the photos there, else in the order of dates.
    private static func search(
        _ filter: PhotoFilter, below folder: PathKey
    ) -> (sql: String, arguments: StatementArguments)? {
        var arguments: StatementArguments = [
            "since": filter.since?.seconds ?? .min, "until": filter.until?.seconds ?? .max,
            "after": folder.sortingBelow.after, "before": folder.sortingBelow.before,
        ]
        // No photo has the last date that there can be.
        let dates = "date >= :since AND date < :until"
        let columns = "SELECT g.revision, latitude, longitude, date FROM gallery_item g"
        let below = "CROSS JOIN latest l ON l.revision = g.revision AND l.key > :after AND l.key < :before"
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
                    \(columns) INDEXED BY gallery_place \(below) WHERE latitude BETWEEN :south AND :north
                    AND longitude BETWEEN :west\(index) AND :east\(index) AND \(dates) \(ofKinds)
                    """
            }
        } else if kinds.isEmpty {
            parts = ["\(columns) \(below) WHERE kind IS NOT NULL AND \(dates)"]
        } else {
            parts = kinds.indices.map { "\(columns) \(below) WHERE kind = :kind\($0) AND \(dates)" }
        }
        return (parts.joined(separator: " UNION ALL ") + " ORDER BY 4 DESC, 1 DESC", arguments)
    }

    func captions(of photos: [PathKey]) async throws -> [PathKey: [UInt8]] {
        try await beside(photos, "bytes", of: "content") { $0.bytes(1) }
    }

    func captionViews(of photos: [PathKey]) async throws -> [PathKey: PhotoShape.Kind] {
        try await beside(photos, "view", of: "caption_view") { PhotoShape.Kind(rawValue: $0[1] as String) }
    }

    /// A column of the table that has something of the captions of photos, which `read` finds at 1.
    private func beside<T: Sendable>(
        _ photos: [PathKey], _ column: String, of table: String, _ read: @escaping @Sendable (Row) -> T?
    ) async throws -> [PathKey: T] {
        if photos.isEmpty { return [:] }
        var keys = JSONText()
        keys.array { keys in
            for photo in photos { keys.value(PhotoCaption.key(of: photo).sorting) }
        }
        let list = String(decoding: keys.bytes, as: UTF8.self)
        return try await query { database in
            var found: [PathKey: T] = [:]
            try database.forEachRow(
                """
                SELECT k.key, s.\(column) FROM json_each(?) k CROSS JOIN latest l ON l.key = k.value
                JOIN version v ON v.revision = l.revision AND v.kind = 0 JOIN \(table) s ON s.hash = v.hash
                """, [list]
            ) { found[photos[$0[0] as Int]] = read($0) }
            return found
        }
    }
}

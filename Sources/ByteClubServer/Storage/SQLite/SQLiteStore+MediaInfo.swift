import ByteClubCore
import FoundationEssentials
import GRDB

extension SQLiteStore {
    /// Whether a row of `version` is of a photo: the condition of the index `version_photo`, word for word.
    static let isPhoto =
        "hash IS NOT NULL AND (lower(substr(path, -4)) IN ('.jpg', '.png') OR lower(substr(path, -5)) = '.jpeg')"

    func mediaInfo(of hashes: [ContentHash]) async throws -> [ContentHash: MediaInfo] {
        if hashes.isEmpty { return [:] }
        return try await query { database in
            var known: [ContentHash: MediaInfo] = [:]
            try database.forEachRow(
                """
                \(HashList.sql)
                SELECT taken, latitude, longitude, kind, width, height, hfov, vfov, yaw, pitch, heading, estimate,
                    taken_offset, number
                FROM listed CROSS JOIN media_info ON hash = \(HashList.hash) WHERE version = \(MediaInfo.version)
                """, HashList.arguments(hashes)
            ) { known[hashes[$0[13] as Int]] = Self.mediaInfo($0) }
            return known
        }
    }

    /// The columns from which ``shape(_:at:)`` makes a shape.
    static let shapeColumns = """
        m.kind, m.width, m.height, m.hfov, m.vfov, m.yaw, m.pitch, m.heading, m.estimate
        """
    /// How many those are.
    static let shapeCount = 9

    private static func mediaInfo(_ row: Row) -> MediaInfo {
        let (latitude, longitude): (Double?, Double?) = (row[1], row[2])
        let place = latitude.flatMap { latitude in
            longitude.map { MediaInfo.Place(latitude: latitude, longitude: $0) }
        }
        let taken = (row[0] as Int64?).map { TakenTime(clock: APIDate(seconds: $0), offset: row[12]) }
        return MediaInfo(taken: taken, place: place, shape: shape(row, at: 3))
    }

    /// The shape in ``shapeColumns`` that begin at an index of a row; nil when there is none.
    static func shape(_ row: Row, at first: Int) -> PhotoShape? {
        guard let name: String = row[first], let kind = PhotoShape.Kind(rawValue: name) else { return nil }
        return PhotoShape(
            kind: kind, width: row[first + 1] ?? 0, height: row[first + 2] ?? 0, hFOV: row[first + 3],
            vFOV: row[first + 4], yaw: row[first + 5] ?? 0, pitch: row[first + 6] ?? 0, heading: row[first + 7],
            isEstimate: row[first + 8] ?? false)
    }

    func keep(_ found: [ContentHash: MediaInfo]) async throws {
        try await writer.perform { transaction in
            for (hash, info) in found {
                let shape = info.shape
                try transaction.execute(
                    """
                    INSERT OR REPLACE INTO media_info(
                        hash, version, taken, latitude, longitude, kind, width, height, hfov, vfov, yaw, pitch, heading,
                        estimate, taken_offset)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                    [
                        hash.data, MediaInfo.version, info.taken?.clock.seconds, info.place?.latitude,
                        info.place?.longitude, shape?.kind.rawValue, shape?.width, shape?.height, shape?.hFOV,
                        shape?.vFOV, shape?.yaw, shape?.pitch, shape?.heading, shape?.isEstimate,
                        info.taken?.offset,
                    ])
            }
        }
    }

    func withoutPlaceholders(_ hashes: [ContentHash]) async throws -> [ContentHash] {
        if hashes.isEmpty { return [] }
        return try await query { database in
            try database.rows(
                """
                \(HashList.sql)
                SELECT number FROM listed CROSS JOIN media_info ON hash = \(HashList.hash)
                WHERE placeholder IS NULL AND kind IS NOT NULL ORDER BY number
                """, HashList.arguments(hashes)
            ) { hashes[$0[0] as Int] }
        }
    }

    func keep(placeholders: [ContentHash: [UInt8]]) async throws {
        if placeholders.isEmpty { return }
        try await writer.perform { transaction in
            for (hash, colours) in placeholders {
                try transaction.execute(
                    "UPDATE media_info SET placeholder = ? WHERE hash = ?", [Data(colours), hash.data])
            }
        }
    }

    func photos(with hash: ContentHash, limit: Int) async throws -> [FolderEntry] {
        try await query { database in
            try database.rows(
                """
                SELECT \(SQLiteFolderState.columns) FROM version v JOIN node n ON n.id = v.node
                WHERE v.hash = ? AND \(Self.isPhoto) AND n.revision = v.revision AND \(SQLiteFolderState.isLive) LIMIT ?
                """, [hash.data, limit], SQLiteFolderState.entry)
        }
    }

    func withoutPhotos(_ hashes: [ContentHash]) async throws -> [ContentHash] {
        if hashes.isEmpty { return [] }
        return try await query { database in
            try database.rows(
                """
                \(HashList.sql)
                SELECT number FROM listed WHERE NOT EXISTS (
                    SELECT 1 FROM version WHERE hash = \(HashList.hash) AND \(Self.isPhoto)) ORDER BY number
                """, HashList.arguments(hashes)
            ) { hashes[$0[0] as Int] }
        }
    }
}

/// Hashes as a table for one statement, however many they are.
private enum HashList {
    /// Puts the table `listed` of the hashes' numbers from 0 before a query; there must be at least one.
    static let sql = """
        WITH RECURSIVE listed(number) AS (
            SELECT 0 UNION ALL SELECT number + 1 FROM listed WHERE 32 * (number + 1) < length(:hashes))
        """
    /// The hash of a row.
    static let hash = "substr(:hashes, 32 * listed.number + 1, 32)"

    /// The arguments of the query.
    static func arguments(_ hashes: [ContentHash]) -> StatementArguments {
        ["hashes": Data(hashes.flatMap(\.bytes))]
    }
}

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

    private static func mediaInfo(_ row: Row) -> MediaInfo {
        let (latitude, longitude): (Double?, Double?) = (row[1], row[2])
        let place = latitude.flatMap { latitude in
            longitude.map { MediaInfo.Place(latitude: latitude, longitude: $0) }
        }
        let kind = (row[3] as String?).flatMap { PhotoShape.Kind(rawValue: $0) }
        let shape = kind.map { kind in
            PhotoShape(
                kind: kind, width: row[4] ?? 0, height: row[5] ?? 0, hFOV: row[6], vFOV: row[7], yaw: row[8] ?? 0,
                pitch: row[9] ?? 0, heading: row[10], isEstimate: row[11] ?? false)
        }
        let taken = (row[0] as Int64?).map { TakenTime(clock: APIDate(seconds: $0), offset: row[12]) }
        return MediaInfo(taken: taken, place: place, shape: shape)
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

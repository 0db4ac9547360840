import ByteClubCore
import GRDB

extension SQLiteStore {
    func mediaInfo(of hashes: [ContentHash]) async throws -> [ContentHash: MediaInfo] {
        try await query { database in
            var known: [ContentHash: MediaInfo] = [:]
            for hash in hashes {
                known[hash] = try database.firstRow(
                    "SELECT taken, latitude, longitude FROM media_info WHERE hash = ?", [hash.data]
                ) { row in
                    let (latitude, longitude): (Double?, Double?) = (row[1], row[2])
                    let place = latitude.flatMap { latitude in
                        longitude.map { MediaInfo.Place(latitude: latitude, longitude: $0) }
                    }
                    return MediaInfo(taken: (row[0] as Int64?).map { APIDate(seconds: $0) }, place: place)
                }
            }
            return known
        }
    }

    func keep(_ found: [ContentHash: MediaInfo]) async throws {
        try await writer.perform { transaction in
            for (hash, info) in found {
                try transaction.execute(
                    "INSERT OR REPLACE INTO media_info(hash, taken, latitude, longitude) VALUES (?, ?, ?, ?)",
                    [hash.data, info.taken?.seconds, info.place?.latitude, info.place?.longitude])
            }
        }
    }
}

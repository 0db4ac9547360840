import ByteClubCore
import GRDB

/// Which contents the journal refers to, in eight bytes each.
///
/// Two contents whose hashes begin alike count as one, so what is unused may be taken for used, never the reverse.
struct ContentUse {
    /// The last change that was looked at.
    let revision: Int64
    private var prefixes: Set<UInt64>

    /// Looks through the whole journal.
    init(in database: Database) throws {
        revision = try SQLiteFolderState.lastRevision(in: database)
        prefixes = []
        let rows = try Row.fetchCursor(database, sql: "SELECT hash FROM version WHERE hash IS NOT NULL")
        while let row = try rows.next() {
            if let hash = row.bytes(0) { prefixes.insert(Self.prefix(hash)) }
        }
    }

    /// Whether a content may be in use.
    func contains(_ hash: [UInt8]) -> Bool { prefixes.contains(Self.prefix(hash)) }

    /// Those of some contents that no change since has begun to use.
    func stillUnused(_ hashes: [[UInt8]], in database: Database) throws -> [[UInt8]] {
        let used = Set(
            try database.rows("SELECT hash FROM version WHERE revision > ? AND hash IS NOT NULL", [revision]) {
                $0.bytes(0) ?? []
            })
        return hashes.filter { !used.contains($0) }
    }

    /// The eight bytes that stand for a hash.
    static func prefix(_ hash: [UInt8]) -> UInt64 {
        hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

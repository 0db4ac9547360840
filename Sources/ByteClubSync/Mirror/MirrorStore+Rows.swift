import ByteClubCore
import FoundationEssentials
import GRDB

extension MirrorStore {
    private static let columns = """
        parent, name, l_name, l_kind, l_hash, l_size, l_device, l_inode, l_modified, l_changed, l_racy, \
        r_name, r_kind, r_hash, r_size, r_revision, r_namespace, r_generation, \
        s_kind, s_hash, s_size, s_revision, s_namespace, flags
        """

    /// The row at a key.
    static func row(_ db: Database, _ key: PathKey) throws -> MirrorRow? {
        guard let parent = key.parent else { return nil }
        let statement = try db.cachedStatement(sql: "SELECT \(columns) FROM node WHERE parent = ? AND name = ?")
        return try Row.fetchOne(statement, arguments: [parent.string, key.name]).map(decode)
    }

    /// All rows where something is to be decided, in no particular order.
    static func dirtyRows(_ db: Database) throws -> [MirrorRow] {
        try rows(db, "dirty = 1", [])
    }

    /// The rows strictly below a key; of the root, all.
    static func rows(_ db: Database, below key: PathKey) throws -> [MirrorRow] {
        if key == .root { return try rows(db, "1", []) }
        return try rows(
            db, "parent = ? OR (parent > ? AND parent < ?)", [key.string, key.string + "/", key.string + "0"])
    }

    /// The rows directly in a folder.
    static func rows(_ db: Database, in key: PathKey) throws -> [MirrorRow] {
        try rows(db, "parent = ?", [key.string])
    }

    /// The rows whose server entries a listing from the start has not shown.
    static func unseenRows(_ db: Database, before generation: Int64) throws -> [MirrorRow] {
        try rows(db, "r_kind IS NOT NULL AND r_generation < ?", [generation])
    }

    private static func rows(_ db: Database, _ condition: String, _ arguments: StatementArguments) throws
        -> [MirrorRow]
    {
        let statement = try db.cachedStatement(sql: "SELECT \(columns) FROM node WHERE \(condition)")
        let cursor = try Row.fetchCursor(statement, arguments: arguments)
        var result: [MirrorRow] = []
        while let row = try cursor.next() { result.append(decode(row)) }
        return result
    }

    private static func decode(_ row: Row) -> MirrorRow {
        let parent = PathKey(folded: row[0] as String? ?? "/")
        var result = MirrorRow(parent.child(folded: row[1] as String? ?? ""))
        if let kind = row[3] as Int64? {
            let isFolder = kind == 1
            result.local = LocalEntry(
                name: row[2] as String? ?? "", isFolder: isFolder, hash: hash(row, 4),
                fingerprint: isFolder
                    ? nil
                    : Fingerprint(
                        device: number(row, 6), inode: number(row, 7), size: number(row, 5),
                        modified: number(row, 8), changed: number(row, 9)),
                isRacy: number(row, 10) == 1)
        }
        if let kind = row[12] as Int64? {
            result.remote = RemoteEntry(
                name: row[11] as String? ?? "", isFolder: kind == 1, hash: hash(row, 13), size: number(row, 14),
                revision: revision(row, 15), generation: number(row, 17))
        }
        if let kind = row[18] as Int64? {
            result.synced = SyncedEntry(
                isFolder: kind == 1, hash: hash(row, 19), size: number(row, 20), revision: revision(row, 21))
        }
        let flags = number(row, 23)
        result.isExcluded = flags & 1 != 0
        result.isKept = flags & 2 != 0
        result.isSwept = flags & 4 != 0
        return result
    }

    private static func number(_ row: Row, _ index: Int) -> Int64 { row[index] as Int64? ?? 0 }

    private static func hash(_ row: Row, _ index: Int) -> ContentHash? {
        (row[index] as Data?).flatMap { ContentHash(bytes: Array($0)) }
    }

    private static func revision(_ row: Row, _ index: Int) -> Revision? {
        (row[index] as Int64?).map {
            Revision(number: $0, namespace: UInt32(truncatingIfNeeded: number(row, index + 1)))
        }
    }

    /// Stores a row whole, or drops it when nothing is known any more.
    static func save(_ db: Database, _ row: MirrorRow) throws {
        guard let parent = row.key.parent else { return }
        if row.isEmpty {
            try db.cachedStatement(sql: "DELETE FROM node WHERE parent = ? AND name = ?")
                .execute(arguments: [parent.string, row.key.name])
            return
        }
        let (local, remote, synced) = (row.local, row.remote, row.synced)
        let print = local?.fingerprint
        let values: [DatabaseValue] = [
            parent.string.databaseValue, row.key.name.databaseValue,
            value(local?.name), value(local.map { $0.isFolder ? 1 : 0 }), value(local?.hash), value(print?.size),
            value(print?.device), value(print?.inode), value(print?.modified), value(print?.changed),
            value(local.map { $0.isRacy ? 1 : 0 }),
            value(remote?.name), value(remote.map { $0.isFolder ? 1 : 0 }), value(remote?.hash), value(remote?.size),
            value(remote?.revision?.number), value(remote?.revision.map { Int64($0.namespace) }),
            value(remote?.generation),
            value(synced.map { $0.isFolder ? 1 : 0 }), value(synced?.hash), value(synced?.size),
            value(synced?.revision?.number), value(synced?.revision.map { Int64($0.namespace) }),
            ((row.isExcluded ? 1 : 0) | (row.isKept ? 2 : 0) | (row.isSwept ? 4 : 0)).databaseValue,
            (row.isSettled ? 0 : 1).databaseValue,
        ]
        try db.cachedStatement(sql: insertion).execute(arguments: StatementArguments(values))
    }

    private static let insertion =
        "INSERT OR REPLACE INTO node(\(columns), dirty) VALUES("
        + Array(repeating: "?", count: 25).joined(separator: ",")
        + ")"

    private static func value(_ value: Int64?) -> DatabaseValue { value?.databaseValue ?? .null }
    private static func value(_ value: String?) -> DatabaseValue { value?.databaseValue ?? .null }
    private static func value(_ value: ContentHash?) -> DatabaseValue {
        value.map { Data($0.bytes).databaseValue } ?? .null
    }

    /// Whether anything was ever synced.
    var hasSynced: Bool {
        get throws {
            try reading {
                try Int.fetchOne($0, sql: "SELECT 1 FROM node WHERE s_kind IS NOT NULL LIMIT 1") != nil
            }
        }
    }

    /// How many entries are synced.
    static func syncedCount(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM node WHERE s_kind IS NOT NULL") ?? 0
    }
}

import ByteClubCore
import GRDB

/// What a scan needs to know of an entry to see that it has not changed.
struct IndexedEntry {
    let name: String
    let localName: String
    let isFolder: Bool
    let isRacy: Bool
    let fingerprint: Fingerprint
}

extension MirrorStore {
    /// The entries of a folder that were on disk when it was last scanned.
    static func index(_ db: Database, of key: PathKey) throws -> [IndexedEntry] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT name, l_name, l_kind, l_racy, l_device, l_inode, l_size, l_modified, l_changed FROM node \
                WHERE parent = ? AND l_kind IS NOT NULL
                """)
        let cursor = try Row.fetchCursor(statement, arguments: [key.string])
        var result: [IndexedEntry] = []
        while let row = try cursor.next() {
            result.append(
                IndexedEntry(
                    name: row[0] as String? ?? "", localName: row[1] as String? ?? "",
                    isFolder: row[2] as Int64? == 1, isRacy: row[3] as Int64? == 1,
                    fingerprint: Fingerprint(
                        device: row[4] as Int64? ?? 0, inode: row[5] as Int64? ?? 0, size: row[6] as Int64? ?? 0,
                        modified: row[7] as Int64? ?? 0, changed: row[8] as Int64? ?? 0)))
        }
        return result
    }
}

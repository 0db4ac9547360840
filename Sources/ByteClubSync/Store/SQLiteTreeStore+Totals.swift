extension SQLiteTreeStore {
    /// Files, folders and bytes that are synced.
    func totals() throws -> (files: Int, folders: Int, bytes: Int64) {
        let folder = ItemFlags.syncedFolder.rawValue
        let statement = try prepared(
            """
            SELECT count(*), coalesce(sum(flags & \(folder) <> 0), 0), coalesce(sum(s_size), 0) FROM item
            WHERE s_parent IS NOT NULL AND id <> 0
            """)
        defer { statement.reset() }
        guard try statement.step() else { return (0, 0, 0) }
        let folders = Int(statement.number(1))
        return (Int(statement.number(0)) - folders, folders, statement.number(2))
    }
}

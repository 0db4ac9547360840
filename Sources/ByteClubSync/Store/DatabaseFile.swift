import ByteClubCore
import Glibc

/// The database file of a mirror: its schema, and the handling of a file that cannot be used.
enum DatabaseFile {
    /// The schema version, since ByteClub 0.4.
    private static let version: Int64 = 6
    /// The schema versions of ByteClub 0.2 and 0.3, which an engine rebuilds.
    private static let earlier: ClosedRange<Int64> = 4...5
    /// The page cache in KiB; a larger change spills into the log.
    private static let cache = 4_096
    /// After how many pages the WAL is checkpointed.
    private static let checkpoint = 2_000

    /// Opens the database of an engine, or creates it when there is none that can be used; `wasUnclean` when the last
    /// engine did not close it.
    static func open(
        _ path: String
    ) throws(SyncError) -> (connection: SQLiteConnection, wasUnclean: Bool, isNew: Bool) {
        if let found = try existing(path) { return (found.connection, found.wasUnclean, false) }
        let connection = try SQLiteConnection(path, .writing)
        try prepare(connection)
        try connection.run("PRAGMA journal_mode = WAL")
        try makeSchema(connection)
        return (connection, false, true)
    }

    /// Opens a database that is there already; nil when there is none that can be used.
    ///
    /// - Throws: ``SyncError`` also for an earlier version's, which only an engine rebuilds: the engine of that version
    ///   may still have it open.
    static func openExisting(_ path: String, _ mode: SQLiteConnection.Mode) throws(SyncError) -> SQLiteConnection? {
        guard let (connection, found) = try openKnown(path, mode) else { return nil }
        if found == version { return connection }
        throw SyncError(
            .database,
            "the mirror's database '\(path)' is from an older version; the next sync upgrades it")
    }

    /// Copies a database, and rebuilds the copy of an earlier version's; an empty one when there is none that can be used.
    static func scratchCopy(_ path: String) throws(SyncError) -> SQLiteConnection {
        let copy = try SQLiteConnection("", .writing)
        if let (source, _) = try openKnown(path, .reading) {
            try copy.copy(source)
            // An engine may have rebuilt it meanwhile.
            if try copy.number("PRAGMA user_version") != version { try rebuild(copy) }
        } else {
            try makeSchema(copy)
        }
        return copy
    }

    private static func openKnown(
        _ path: String, _ mode: SQLiteConnection.Mode
    ) throws(SyncError) -> (connection: SQLiteConnection, version: Int64)? {
        if !exists(path) { return nil }
        let connection = try SQLiteConnection(path, mode)
        do {
            let found = try connection.number("PRAGMA user_version")
            guard found == version || earlier.contains(found) else { return nil }
            try prepare(connection)
            return (connection, found)
        } catch {
            if connection.isDamaged { return nil }
            throw error
        }
    }

    private static func existing(_ path: String) throws(SyncError) -> (connection: SQLiteConnection, wasUnclean: Bool)?
    {
        guard exists(path) else {
            // SQLite would apply a WAL file without its database to the new one.
            try moveAside(path)
            return nil
        }
        let connection = try SQLiteConnection(path, .writing)
        do throws(SyncError) {
            let found = try connection.number("PRAGMA user_version")
            if found == version || earlier.contains(found) {
                try prepare(connection)
                if found != version { try rebuild(connection) }
                let wasUnclean = try connection.text("SELECT value FROM meta WHERE name = 'isOpen'") != nil
                if !wasUnclean { return (connection, false) }
                if try connection.text("PRAGMA quick_check(1)") == "ok" { return (connection, true) }
            } else if try connection.number("SELECT count(*) FROM sqlite_schema") == 0 {
                return nil
            }
        } catch {
            if !connection.isDamaged, !isMissingTable(error) { throw error }
        }
        try? connection.close()
        try moveAside(path)
        return nil
    }

    /// Whether an error can only come from a schema that is not ours.
    private static func isMissingTable(_ error: SyncError) -> Bool {
        error.message.contains("no such table") || error.message.contains("no such column")
    }

    /// Whether there is a file in which no trees are found, and that is not one that an engine is just making.
    static func isUnusable(_ path: String) -> Bool {
        guard exists(path) else { return false }
        guard let connection = try? SQLiteConnection(path, .reading) else { return true }
        if (try? connection.number("PRAGMA user_version")) == version { return false }
        return (try? connection.number("SELECT count(*) FROM sqlite_schema")) != 0
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Renames a database with its log; an earlier renamed file is replaced.
    static func moveAside(_ path: String) throws(SyncError) {
        for suffix in ["-wal", "-shm", ""] {
            if unsafe rename(path + suffix, path + ".old" + suffix) != 0, errno != ENOENT {
                throw SyncError.wrapping(FileError(operation: "move aside", path: path + suffix, code: errno))
            }
        }
    }

    private static func prepare(_ connection: SQLiteConnection) throws(SyncError) {
        try connection.run(
            "PRAGMA cache_size = -\(cache); PRAGMA wal_autocheckpoint = \(checkpoint); PRAGMA synchronous = NORMAL")
    }

    /// Makes the tables of a new database.
    static func makeSchema(_ connection: SQLiteConnection) throws(SyncError) {
        try connection.run("BEGIN IMMEDIATE")
        try makeTables(connection)
        try connection.run("COMMIT")
    }

    private static func makeTables(_ connection: SQLiteConnection) throws(SyncError) {
        let records = RecordTable.all.map { $0.definition + ";\n" }.joined()
        try connection.run("\(schema); \(records) PRAGMA user_version = \(version)")
        try ItemStatements(connection).save(root, known: nil)
    }

    /// Rebuilds a database of an earlier version in one transaction.
    ///
    /// A scan and the server provide the trees again. The selection and a pause, which neither has, are kept.
    private static func rebuild(_ connection: SQLiteConnection) throws(SyncError) {
        try connection.run("BEGIN IMMEDIATE")
        do {
            try connection.run(
                "ALTER TABLE meta RENAME TO former_meta; ALTER TABLE deselected RENAME TO former_deselected")
            for table in try connection.tables() where !table.hasPrefix("former_") {
                try connection.run("DROP TABLE \(table)")
            }
            try makeTables(connection)
            try connection.run(
                """
                INSERT INTO meta SELECT * FROM former_meta WHERE name = '\(MetaKey.pausedUntil.rawValue)';
                INSERT INTO deselected SELECT * FROM former_deselected;
                DROP TABLE former_meta; DROP TABLE former_deselected; COMMIT
                """)
        } catch {
            try? connection.run("ROLLBACK")
            throw error
        }
    }

    /// The mirror's root, which is there on both sides.
    private static var root: Item {
        let location = Location(.root, EntryName(""))
        return Item(
            .root, local: LocalState(location: location, isFolder: true),
            remote: RemoteState(location: location, isFolder: true),
            synced: SyncedState(location: location, isFolder: true))
    }

    /// All tables except those of records.
    ///
    /// Of an item, `l` is what the disk has, `r` what the server has, `s` what both had when they were last equal.
    ///
    /// A name or a hash in `r` or `s` is NULL when it equals the disk's, a revision in `s` when it equals that in `r`, and a
    /// key when it equals its name. An identity that is no number is a blob in `r_node` and `last_node`.
    private static let schema =
        """
        CREATE TABLE item(
          id INTEGER PRIMARY KEY, flags INT NOT NULL, unsettled INT NOT NULL,
          l_parent INT, l_fold INT, l_name TEXT, l_key TEXT, l_hash BLOB, l_size INT,
          handle_high INT, handle_low INT, device INT, inode INT, bytes INT, modified INT, changed INT,
          r_parent INT, r_fold INT, r_name TEXT, r_key TEXT, r_hash BLOB, r_size INT,
          r_node INT, r_revision TEXT, r_place INT, r_generation INT,
          s_parent INT, s_name TEXT, s_key TEXT, s_hash BLOB, s_size INT,
          s_revision TEXT, s_remote_name TEXT, s_remote_key TEXT,
          last_node INT, sent BLOB, r_modified INT);
        CREATE INDEX local ON item(l_parent, l_fold) WHERE l_parent IS NOT NULL;
        CREATE INDEX remote ON item(r_parent, r_fold) WHERE r_parent IS NOT NULL;
        CREATE INDEX node ON item(coalesce(r_node, last_node)) WHERE coalesce(r_node, last_node) IS NOT NULL;
        CREATE INDEX handle ON item(handle_low) WHERE handle_low IS NOT NULL;
        CREATE INDEX unsettled ON item(unsettled) WHERE unsettled = 1;
        CREATE INDEX synced ON item(s_parent) WHERE s_parent IS NOT NULL;
        CREATE TABLE seal(item INTEGER PRIMARY KEY, value BLOB NOT NULL);
        CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        INSERT INTO meta VALUES('nextItem', '1');
        CREATE TABLE event(
          seq INTEGER PRIMARY KEY, at INT NOT NULL, path TEXT NOT NULL, event TEXT NOT NULL, rule TEXT, detail TEXT)
        """
}

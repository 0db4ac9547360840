import ByteClubCore
import Crypto
import FoundationEssentials
import GRDB

/// The tables, and how an older database becomes a current one.
enum Schema {
    /// The steps that make a database of version n from one of version n - 1, oldest first.
    ///
    /// The result of the released ones never changes. Those to 14 and 15 are empty, since that to 16 includes their
    /// work.
    private static let migrations: [@Sendable (Database) throws -> Void] = [
        createTables, addAccounts, sql(addListings), sql(addLinks), addNodes, sql(addHistory), sql(addQuotas),
        sql(addLinkNodes), sql(addFileTimes), sql(addSearch), sql(addExecutable), sql(addPhotos), addGallery,
        superseded, superseded, keepClocks, sql(addPlaceholders),
    ]

    /// A step that is nothing but statements.
    private static func sql(_ text: String) -> @Sendable (Database) throws -> Void {
        { try $0.execute(sql: text) }
    }

    /// Versions 14 and 15 only had photos read again, and version 16 has all of them read again.
    @Sendable private static func superseded(_: Database) {}

    /// The version that this program reads and writes, as in `PRAGMA user_version`.
    static var version: Int { migrations.count }

    /// The names of the rows of `meta`.
    enum Meta {
        static let epoch = "epoch"
        static let signingKey = "signing_key"
        static let used = "used"
        static let entries = "entries"
        static let members = "members"
        static let publicURL = "public_url"
        /// Not there in a club without a name.
        static let clubName = "club_name"
        /// A ``HistoryAge``; not there before the first housekeeping.
        static let age = "age"
        /// The last change whose predecessor has been purged, if it was old enough.
        static let purged = "purged"
        /// The last change whose predecessor was dropped over a quota; not there before the first one.
        static let dropped = "dropped"
        /// Changes up to this number may be missing, and none but older ones has a lower number.
        static let forgotten = "forgotten"
        /// The last change whose names and texts are in the search index.
        static let indexed = "indexed"
        /// The version of the rules of ``FoldedText`` by which they were indexed.
        static let folding = "folding"
        /// There only in a copy of a data directory, until it is served for the first time.
        static let copied = "copied"
    }

    private static func foundVersion(_ pool: DatabasePool) throws -> Int {
        try pool.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
    }

    /// Whether an older program made the database; false for one that is empty.
    static func isOld(_ pool: DatabasePool) throws -> Bool {
        let found = try foundVersion(pool)
        return found > 0 && found < version
    }

    /// Brings a database up to ``version``.
    ///
    /// - Throws: ``StorageError`` `damaged` when a newer program made the database.
    static func migrate(_ pool: DatabasePool) throws {
        let found = try foundVersion(pool)
        guard found <= version else {
            throw StorageError(.damaged, "the data directory is of version \(found), newer than this program supports")
        }
        guard found < version else { return }
        var migrator = DatabaseMigrator()
        for (index, migration) in migrations.enumerated() {
            migrator.registerMigration("\(index + 1)") { database in
                try migration(database)
                try database.execute(sql: "PRAGMA user_version = \(index + 1)")
            }
        }
        try migrator.migrate(pool)
    }

    // `version` is the journal: append only, numbered by revision, each row naming the one before it at its key.
    // `latest` is the tree: its key sorts a folder's whole subtree behind the folder.
    @Sendable private static func createTables(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE meta(name TEXT PRIMARY KEY, value ANY NOT NULL) WITHOUT ROWID, STRICT;
                CREATE TABLE version(
                    revision INTEGER PRIMARY KEY, previous INTEGER NOT NULL, path TEXT NOT NULL,
                    kind INTEGER NOT NULL, bytes INTEGER NOT NULL, hash BLOB, modified INTEGER NOT NULL,
                    author INTEGER NOT NULL) STRICT;
                CREATE TABLE latest(
                    key TEXT PRIMARY KEY, parent TEXT NOT NULL, revision INTEGER NOT NULL) WITHOUT ROWID, STRICT;
                CREATE UNIQUE INDEX latest_revision ON latest(revision);
                CREATE INDEX latest_parent ON latest(parent, key);
                CREATE TABLE content(id INTEGER PRIMARY KEY, hash BLOB NOT NULL, bytes BLOB NOT NULL) STRICT;
                CREATE UNIQUE INDEX content_hash ON content(hash);
                CREATE TABLE member(
                    uid INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, folded TEXT NOT NULL,
                    created INTEGER NOT NULL, disabled INTEGER NOT NULL DEFAULT 0) STRICT;
                CREATE UNIQUE INDEX member_name ON member(folded) WHERE disabled = 0;
                CREATE TABLE token(hash BLOB PRIMARY KEY, member INTEGER NOT NULL) WITHOUT ROWID, STRICT;
                CREATE TABLE oauth1(
                    token TEXT PRIMARY KEY, secret TEXT NOT NULL, member INTEGER NOT NULL) WITHOUT ROWID, STRICT;
                CREATE TABLE upload(
                    id TEXT PRIMARY KEY, member INTEGER NOT NULL, size INTEGER NOT NULL, expires INTEGER NOT NULL,
                    completed INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID, STRICT;
                CREATE TABLE upload_block(
                    upload TEXT NOT NULL, block INTEGER NOT NULL, digest BLOB NOT NULL,
                    PRIMARY KEY(upload, block)) WITHOUT ROWID, STRICT;
                """)
        let values: [(String, any DatabaseValueConvertible)] = [
            (Meta.epoch, Secret.text(bytes: 16)), (Meta.signingKey, Secret.text(bytes: 32)),
            ("consumer_key", Secret.text(bytes: 8)), ("consumer_secret", Secret.text(bytes: 16)),
            (Meta.used, 0), (Meta.members, 0),
        ]
        for (name, value) in values {
            try db.execute(sql: "INSERT INTO meta(name, value) VALUES (?, ?)", arguments: [name, value])
        }
    }
}

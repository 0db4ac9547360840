import ByteClubCore
import FoundationEssentials
import GRDB

/// The mirror's three trees, one row a place, with what must outlive the process.
///
/// One connection; transactions are durable when they return. Calls block and belong on the mirror's thread.
struct MirrorStore: Sendable {
    static let fileName = "mirror.sqlite"
    let queue: DatabaseQueue

    private static func configuration() -> GRDB.Configuration {
        var configuration = GRDB.Configuration()
        configuration.busyMode = .timeout(5)
        configuration.label = "mirror"
        configuration.prepareDatabase { db in
            if !db.configuration.readonly { try db.execute(sql: "PRAGMA synchronous = FULL") }
        }
        return configuration
    }

    /// Opens a database, making it when it is missing.
    init(path: String) throws {
        var configuration = Self.configuration()
        configuration.journalMode = .wal
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { db in
            if try Int.fetchOne(db, sql: "PRAGMA user_version") == Self.schemaVersion { return }
            try db.inTransaction {
                try Self.makeSchema(db)
                return .commit
            }
        }
    }

    /// A copy in memory that may be changed without consequence; empty when there is no database.
    init(copyOf path: String, exists: Bool) throws {
        queue = try DatabaseQueue(configuration: Self.configuration())
        if exists {
            var configuration = Self.configuration()
            configuration.readonly = true
            try DatabaseQueue(path: path, configuration: configuration).backup(to: queue)
        }
        try queue.writeWithoutTransaction { db in
            if try Int.fetchOne(db, sql: "PRAGMA user_version") != Self.schemaVersion { try Self.makeSchema(db) }
        }
    }

    /// Whether the database's pages hang together.
    var isSound: Bool {
        let answer = try? queue.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        return answer == "ok"
    }

    func close() throws { try queue.close() }

    /// Runs statements as one durable change.
    func transaction<Value>(_ work: (Database) throws -> Value) throws -> Value {
        try queue.writeWithoutTransaction { db in
            var result: Value?
            try db.inTransaction(.immediate) {
                result = try work(db)
                return .commit
            }
            guard let result else { throw DatabaseError(message: "a transaction gave nothing") }
            return result
        }
    }

    /// Runs statements that only read.
    func reading<Value>(_ work: (Database) throws -> Value) throws -> Value {
        try queue.writeWithoutTransaction(work)
    }
}

extension MirrorStore {
    static let schemaVersion = 1

    static func makeSchema(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE node(
                  parent TEXT NOT NULL, name TEXT NOT NULL,
                  l_name TEXT, l_kind INT, l_hash BLOB, l_size INT, l_device INT, l_inode INT, l_modified INT,
                  l_changed INT, l_racy INT,
                  r_name TEXT, r_kind INT, r_hash BLOB, r_size INT, r_revision INT, r_namespace INT, r_generation INT,
                  s_kind INT, s_hash BLOB, s_size INT, s_revision INT, s_namespace INT,
                  flags INT NOT NULL, dirty INT NOT NULL,
                  PRIMARY KEY(parent, name)) WITHOUT ROWID;
                CREATE INDEX dirty ON node(dirty) WHERE dirty = 1;
                CREATE TABLE intent(
                  op TEXT PRIMARY KEY, verb TEXT NOT NULL, path TEXT NOT NULL, stage TEXT NOT NULL,
                  expected BLOB, target BLOB) WITHOUT ROWID;
                CREATE TABLE expected(
                  key TEXT NOT NULL, hash BLOB NOT NULL, path TEXT NOT NULL, size INT NOT NULL, revision INT,
                  namespace INT, PRIMARY KEY(key, hash)) WITHOUT ROWID;
                CREATE TABLE problem(
                  parent TEXT NOT NULL, path TEXT NOT NULL, key TEXT, message TEXT NOT NULL, source INT NOT NULL,
                  PRIMARY KEY(parent, path)) WITHOUT ROWID;
                CREATE TABLE held(path TEXT PRIMARY KEY, side TEXT NOT NULL) WITHOUT ROWID;
                CREATE TABLE conflict(
                  copy TEXT PRIMARY KEY, path TEXT NOT NULL, at INT NOT NULL) WITHOUT ROWID;
                CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
                PRAGMA user_version = 1;
                """)
    }

    /// Values that stand alone.
    enum MetaName: String {
        case identity, cursor, fileSystem, generation, isSweepPending, ignoreRules, lastSync, remoteRoot
    }

    func meta(_ name: MetaName) throws -> String? {
        try reading { db in try Self.meta(db, name) }
    }

    static func meta(_ db: Database, _ name: MetaName) throws -> String? {
        try String.fetchOne(
            db.cachedStatement(sql: "SELECT value FROM meta WHERE name = ?"), arguments: [name.rawValue])
    }

    func setMeta(_ name: MetaName, _ value: String?) throws {
        try transaction { db in try Self.setMeta(db, name, value) }
    }

    static func setMeta(_ db: Database, _ name: MetaName, _ value: String?) throws {
        if let value {
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)")
                .execute(arguments: [name.rawValue, value])
        } else {
            try db.cachedStatement(sql: "DELETE FROM meta WHERE name = ?").execute(arguments: [name.rawValue])
        }
    }
}

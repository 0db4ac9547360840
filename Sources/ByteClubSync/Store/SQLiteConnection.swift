import ByteClubCore
import CSQLiteLog
import GRDBSQLite

/// One open SQLite database, used from one thread at a time; closed with its owner.
@safe final class SQLiteConnection {
    /// How a database is opened.
    enum Mode {
        /// For reading and writing; made when it is missing.
        case writing
        /// For reading what another process may be writing.
        case reading
        /// For writing to a database that exists.
        case writingExisting
    }

    /// The file's path, for errors.
    let path: String
    /// Whether a statement has found that the file is no sound database.
    private(set) var isDamaged = false
    private var handle: OpaquePointer?

    /// Opens a database; a file that is none is only found out by the first statement.
    init(_ path: String, _ mode: Mode) throws(SyncError) {
        self.path = path
        let flags =
            switch mode {
            case .writing: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .reading: SQLITE_OPEN_READONLY
            case .writingExisting: SQLITE_OPEN_READWRITE
            }
        let code = unsafe sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        try check(code)
        unsafe sqlite3_busy_timeout(handle, 5_000)
    }

    deinit { unsafe sqlite3_close_v2(handle) }

    /// Closes the database; it stays open until its last statement is finalized.
    func close() throws(SyncError) {
        let code = unsafe sqlite3_close_v2(handle)
        unsafe handle = nil
        try check(code)
    }

    /// Runs statements that give no rows.
    func run(_ sql: String) throws(SyncError) { try check(unsafe sqlite3_exec(handle, sql, nil, nil, nil)) }

    /// Compiles a statement that is used again and again.
    func prepare(_ sql: String) throws(SyncError) -> SQLiteStatement {
        var statement: OpaquePointer?
        try check(unsafe sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement = unsafe statement else { throw SyncError(.database, "an empty statement") }
        return unsafe SQLiteStatement(owning: statement, of: self)
    }

    /// The first column of a statement's first row as a number; 0 when there is none.
    func number(_ sql: String) throws(SyncError) -> Int64 {
        let statement = try prepare(sql)
        return try statement.step() ? statement.number(0) : 0
    }

    /// The first column of a statement's first row as text; nil when there is none.
    func text(_ sql: String) throws(SyncError) -> String? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.text(0) : nil
    }

    /// The names of all tables.
    func tables() throws(SyncError) -> [String] {
        try prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
            .rows { $0.text(0) ?? "" }
    }

    /// The names of a table's columns, in their order.
    func columns(of table: String) throws(SyncError) -> [String] {
        try prepare("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid").rows { $0.text(0) ?? "" }
    }

    /// Whether a transaction is open; some failures end it on their own.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// How many rows were changed since the database was opened.
    var changes: Int64 { unsafe sqlite3_total_changes64(handle) }

    /// The number of the row that was inserted last.
    var lastRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// Replaces the whole content by a copy of another database's.
    func copy(_ source: SQLiteConnection) throws(SyncError) {
        guard let backup = unsafe sqlite3_backup_init(handle, "main", source.handle, "main") else {
            throw failure(unsafe sqlite3_extended_errcode(handle))
        }
        _ = unsafe sqlite3_backup_step(backup, -1)
        let code = unsafe sqlite3_backup_finish(backup)
        try check(code)
    }

    /// Disables the checkpoint of the WAL when the database is closed by its last connection.
    func keepLog() { unsafe byteclub_sqlite_keep_log(handle) }

    /// Turns a result code into an error.
    func check(_ code: Int32) throws(SyncError) {
        if code != SQLITE_OK { throw failure(code) }
    }

    /// What a result code means for people.
    func failure(_ code: Int32) -> SyncError {
        if [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT].contains(code & 0xFF) { isDamaged = true }
        let kind: SyncError.Code = code & 0xFF == SQLITE_FULL || code & 0xFF == SQLITE_IOERR ? .io : .database
        var message = Self.message(code: code, path)
        if code & 0xFF == SQLITE_ERROR, let text = unsafe sqlite3_errmsg(handle) {
            unsafe message += ": " + String(cString: text)
        }
        return SyncError(kind, message)
    }

    private static func message(code: Int32, _ path: String) -> String {
        switch code & 0xFF {
        case SQLITE_FULL: "the disk is full, so the mirror's database '\(path)' cannot grow; free some space"
        case SQLITE_IOERR: "the mirror's database '\(path)' cannot be read or written: \(words(code))"
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT:
            "the mirror's database '\(path)' is damaged; the next sync creates a new one"
        case SQLITE_BUSY, SQLITE_LOCKED: "another program has locked the mirror's database '\(path)'; try again"
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH:
            "cannot open the mirror's database '\(path)' (\(words(code))); check its permissions"
        case SQLITE_NOMEM: "too little memory for the mirror's database"
        default: "the mirror's database '\(path)' failed: \(words(code))"
        }
    }

    private static func words(_ code: Int32) -> String {
        unsafe sqlite3_errstr(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }
}

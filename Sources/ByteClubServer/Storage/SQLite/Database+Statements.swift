import ByteClubCore
import FoundationEssentials
import GRDB
import Glibc

extension Database {
    /// Runs a statement that is prepared once for each connection.
    func run(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        let statement = try cachedStatement(sql: sql)
        try statement.execute(arguments: arguments)
    }

    /// The rows of a query that is prepared once for each connection, each mapped while it is current.
    func rows<T>(
        _ sql: String, _ arguments: StatementArguments = StatementArguments(), _ transform: (Row) throws -> T
    ) throws -> [T] {
        var result: [T] = []
        try forEachRow(sql, arguments) { result.append(try transform($0)) }
        return result
    }

    /// Hands over the rows of a query that is prepared once for each connection, each while it is current.
    func forEachRow(
        _ sql: String, _ arguments: StatementArguments = StatementArguments(), _ body: (Row) throws -> Void
    ) throws {
        let cursor = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        while let row = try cursor.next() { try body(row) }
    }

    /// The first row of a query that is prepared once for each connection.
    func firstRow<T>(
        _ sql: String, _ arguments: StatementArguments = StatementArguments(), _ transform: (Row) throws -> T
    ) throws -> T? {
        let cursor = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        return try cursor.next().map(transform)
    }

    /// Whether a query, which is prepared once for each connection, has a row.
    func hasRow(_ sql: String, _ arguments: StatementArguments) throws -> Bool {
        try firstRow(sql, arguments) { _ in true } ?? false
    }

    /// A small content; nil when it is not there.
    func content(_ hash: ContentHash) throws -> [UInt8]? {
        try firstRow("SELECT bytes FROM content WHERE hash = ?", [hash.data]) { $0.bytes(0) ?? [] }
    }

    /// A value of the table `meta`; nil when it is not there.
    func meta<T: DatabaseValueConvertible & StatementColumnConvertible>(_ name: String) throws -> T? {
        try firstRow("SELECT value FROM meta WHERE name = ?", [name]) { $0[0] }
    }
}

extension Row {
    /// A column's bytes, copied once; nil for NULL.
    func bytes(_ index: Int) -> [UInt8]? { try? withUnsafeData(atIndex: index) { $0.map { Array($0) } } }

    /// A column's hash; nil for NULL.
    func hash(_ index: Int) -> ContentHash? { bytes(index).flatMap(ContentHash.init(bytes:)) }
}

extension ContentHash {
    /// The hash as the database keeps it.
    var data: Data { unsafe withUnsafeBytes { unsafe Data($0) } }
}

extension StagedContent {
    /// The bytes that go to the database.
    var inlineBytes: Int {
        if case .inline(let bytes) = place { bytes.count } else { 0 }
    }
}

extension PathKey {
    /// The key with `/` as the lowest byte, so that bytewise order is the order of keys; empty for the root.
    var sorting: String {
        self == .root ? "" : String(decoding: string.utf8.map { $0 == UInt8(ascii: "/") ? 1 : $0 }, as: UTF8.self)
    }

    /// The open range of ``sorting`` that holds everything strictly below the key.
    var sortingBelow: (after: String, before: String) { (sorting + "\u{1}", sorting + "\u{2}") }
}

extension StorageError {
    /// The storage's error for one of the database; other errors stay as they are.
    static func translating(_ error: any Error) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        let reason = error.message ?? "\(error.resultCode)"
        switch error.resultCode.primaryResultCode {
        case .SQLITE_FULL: return StorageError(.full, "the database's disk is full")
        // The database's shared memory and its journal report a full disk as a failed write.
        case .SQLITE_IOERR where errno == ENOSPC || errno == EDQUOT:
            return StorageError(.full, "the database's disk is full")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: return StorageError(.damaged, "the database is damaged: \(reason)")
        default: return StorageError(.io, "the database failed: \(reason)")
        }
    }
}

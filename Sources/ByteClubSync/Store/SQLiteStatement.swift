import ByteClubCore
import GRDBSQLite

/// A compiled statement: bound, stepped through, reset, bound again.
///
/// Parameters count from 1, columns from 0, as SQLite counts them.
@safe final class SQLiteStatement {
    private var handle: OpaquePointer?
    private let connection: SQLiteConnection
    /// Makes SQLite copy bound values.
    private static let copying = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(owning handle: OpaquePointer, of connection: SQLiteConnection) {
        unsafe self.handle = handle
        self.connection = connection
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Frees SQLite's statement, which must not be used afterwards.
    func finalize() {
        unsafe sqlite3_finalize(handle)
        unsafe handle = nil
    }

    /// Steps to the next row; false at the end, after which the statement can be bound again.
    func step() throws(SyncError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        unsafe sqlite3_reset(handle)
        if code != SQLITE_DONE { throw connection.failure(code) }
        return false
    }

    /// Runs a statement that gives no rows.
    func run() throws(SyncError) { while try step() {} }

    /// The values of all rows.
    func rows<Value>(_ value: (SQLiteStatement) -> Value) throws(SyncError) -> [Value] {
        var result: [Value] = []
        while try step() { result.append(value(self)) }
        return result
    }

    /// Skips the remaining rows, so that the statement can be bound again.
    func reset() { unsafe sqlite3_reset(handle) }

    func bind(_ index: Int32, _ value: Int64) { unsafe sqlite3_bind_int64(handle, index, value) }

    func bind(_ index: Int32, _ value: String) {
        var value = value
        value.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
                // Without an address NULL would be bound.
                let count = Int32(clamping: bytes.count)
                if count == 0 {
                    _ = unsafe sqlite3_bind_text(handle, index, "", 0, Self.copying)
                } else {
                    _ = unsafe sqlite3_bind_text(handle, index, bytes.baseAddress, count, Self.copying)
                }
            }
        }
    }

    func bind(_ index: Int32, _ value: [UInt8]) {
        if value.isEmpty {
            _ = unsafe sqlite3_bind_zeroblob(handle, index, 0)
            return
        }
        unsafe value.withUnsafeBytes { bytes in
            _ = unsafe sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(clamping: bytes.count), Self.copying)
        }
    }

    func bind(_ index: Int32, _ value: ContentHash) {
        unsafe value.withUnsafeBytes { bytes in
            _ = unsafe sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(clamping: bytes.count), Self.copying)
        }
    }

    func bind(_ index: Int32, _ value: StoredValue) {
        switch value {
        case .null: unsafe sqlite3_bind_null(handle, index)
        case .number(let number): bind(index, number)
        case .text(let text): bind(index, text)
        case .bytes(let bytes): bind(index, bytes)
        case .hash(let hash): bind(index, hash)
        }
    }

    /// Whether a column of the row is NULL.
    func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// The value of a column.
    func value(_ column: Int32) -> StoredValue {
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .number(number(column))
        case SQLITE_TEXT: .text(text(column) ?? "")
        case SQLITE_BLOB: .bytes(bytes(column))
        default: .null
        }
    }

    /// A column's number; 0 when it holds nothing.
    func number(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    /// A column's number; nil when it holds nothing.
    func optionalNumber(_ column: Int32) -> Int64? { isNull(column) ? nil : number(column) }

    /// A column's text; nil when it holds nothing.
    func text(_ column: Int32) -> String? {
        guard let start = unsafe sqlite3_column_text(handle, column) else { return nil }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// A column's hash; nil when it holds anything else.
    func hash(_ column: Int32) -> ContentHash? {
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return nil }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        return unsafe ContentHash(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// A column's bytes; none when it holds nothing.
    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}

import ByteClubCore
import FoundationEssentials
import GRDB

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
}

extension Row {
    /// A column's bytes, copied once; nil for NULL.
    func bytes(_ index: Int) -> [UInt8]? { try? withUnsafeData(atIndex: index) { $0.map { Array($0) } } }
}

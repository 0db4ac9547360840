import ByteClubCore
import GRDB

/// How long members' operations are remembered: 30 days, and the last hundred thousand however old they are.
///
/// The latter keeps what clients may send again when the clock jumps ahead.
enum OperationMemory {
    /// How long an operation is remembered at least, in seconds.
    static let lifetime: Int64 = 30 * 86_400
    /// How many operations are remembered however old they are.
    static let minimumCount: Int64 = 100_000
    /// After how many operations old ones are looked for.
    static let sweepInterval: Int64 = 256

    /// The number of the first operation that made a change above a revision, or a smaller number; one past the last
    /// when there is none.
    ///
    /// Operations have the order of their changes, but for the few that had nothing to do. The search begins at the
    /// end, because clients ask for recent ones.
    static func first(after revision: Int64, in database: Database) throws -> Int64 {
        let last = try database.firstRow("SELECT max(number) FROM operation") { $0[0] as Int64? } ?? nil
        guard let last else { return 1 }
        /// Whether all operations from a number on are behind the revision.
        func isBehind(_ number: Int64) throws -> Bool {
            let made = try database.firstRow(
                "SELECT revision FROM operation WHERE number >= ? ORDER BY number LIMIT 1", [number]
            ) { $0[0] as Int64 }
            return made.map { $0 > revision } ?? true
        }
        var (low, high, step) = (last, last + 1, Int64(1))
        while low > 0, try isBehind(low) { (low, high, step) = (low - step, low, 2 * step) }
        low = max(low, 0) + 1
        while low < high {
            let middle = low + (high - low) / 2
            if try isBehind(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Removes some of the oldest operations, and those of a clock that was far ahead, at most twice as many as come
    /// between two sweeps.
    static func sweep(_ database: Database, last: Int64, now: APIDate) throws {
        try database.run(
            """
            DELETE FROM operation WHERE (made < ? OR made > ?) AND number <= ?
                AND number IN (SELECT number FROM operation ORDER BY number LIMIT ?)
            """, [now.seconds - lifetime, now.seconds + lifetime, last - minimumCount, 2 * sweepInterval])
    }
}

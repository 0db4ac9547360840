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

    /// Forgets some of the oldest operations, and those of a clock that was far ahead, at most twice as many as come
    /// between two sweeps.
    static func sweep(_ database: Database, last: Int64, now: APIDate) throws {
        try database.run(
            """
            DELETE FROM operation WHERE (made < ? OR made > ?) AND number <= ?
                AND number IN (SELECT number FROM operation ORDER BY number LIMIT ?)
            """, [now.seconds - lifetime, now.seconds + lifetime, last - minimumCount, 2 * sweepInterval])
    }
}

import GRDB
import Logging

extension SQLiteStore {
    /// By how much a copy's changes are numbered higher than those of the original: more than that may have made since.
    private static let numbersLeftOut: Int64 = 100_000_000

    /// Gives a copy of a data directory that is served for the first time a journal of its own.
    ///
    /// What the original did after the copy was made is not in the copy, and clients may have seen it. With a new epoch
    /// their cursors start over; and no number is given a second time, so that no revision and no listing's hash that a
    /// client remembers ever means something else.
    static func beginAnew(_ pool: DatabasePool, logger: Logger) throws {
        try pool.write { database in
            let mark = try database.firstRow("SELECT 1 FROM meta WHERE name = ?", [Schema.Meta.copied]) { _ in true }
            guard mark != nil else { return }
            let next = try SQLiteFolderState.lastRevision(in: database) + numbersLeftOut
            try database.run("UPDATE meta SET value = ? WHERE name = ?", [Secret.text(bytes: 16), Schema.Meta.epoch])
            try database.run("UPDATE meta SET value = ? WHERE name = ?", [next, Schema.Meta.forgotten])
            try database.run("DELETE FROM meta WHERE name = ?", [Schema.Meta.copied])
            logger.notice("this is a copy of a data directory: clients will read the whole club again")
        }
    }
}

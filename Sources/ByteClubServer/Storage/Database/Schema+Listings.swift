import GRDB

extension Schema {
    /// Version 3: each folder's newest change among its children is at hand, so that an unchanged listing is not read.
    ///
    /// A row stays as it is when history is forgotten, lest a listing get a hash that an older one had.
    @Sendable static func addListings(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE listing(folder TEXT PRIMARY KEY, newest INTEGER NOT NULL) WITHOUT ROWID, STRICT;
                INSERT INTO listing(folder, newest) SELECT parent, max(revision) FROM latest GROUP BY parent;
                """)
    }
}

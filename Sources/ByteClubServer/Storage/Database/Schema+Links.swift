import GRDB

extension Schema {
    /// Version 4: links to paths, and what was read from photos.
    @Sendable static func addLinks(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE link(
                    secret TEXT PRIMARY KEY, purpose INTEGER NOT NULL, member INTEGER NOT NULL, path TEXT NOT NULL,
                    expires INTEGER NOT NULL) WITHOUT ROWID, STRICT;
                CREATE UNIQUE INDEX link_path ON link(path, purpose, member);
                CREATE INDEX link_expires ON link(expires);
                CREATE TABLE media_info(
                    hash BLOB PRIMARY KEY, taken INTEGER, latitude REAL, longitude REAL) WITHOUT ROWID, STRICT;
                """)
    }
}

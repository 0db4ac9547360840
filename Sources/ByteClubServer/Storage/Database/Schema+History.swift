import GRDB

extension Schema {
    /// Version 6: what each member stores is counted, and what was replaced long ago can be forgotten.
    @Sendable static func addHistory(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE member_usage(member INTEGER PRIMARY KEY, bytes INTEGER NOT NULL) STRICT;
                INSERT INTO member_usage(member, bytes)
                    SELECT v.author, sum(v.bytes) FROM latest l JOIN version v ON v.revision = l.revision
                    WHERE v.bytes > 0 GROUP BY v.author;
                CREATE TABLE history_mark(age INTEGER PRIMARY KEY, revision INTEGER NOT NULL) STRICT;
                ALTER TABLE upload ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;
                INSERT INTO meta(name, value) VALUES ('\(Meta.purged)', 0), ('\(Meta.forgotten)', 0);
                """)
    }
}

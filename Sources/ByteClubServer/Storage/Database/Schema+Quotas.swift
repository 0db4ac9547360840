import GRDB

extension Schema {
    /// Version 7: entries are counted as their bytes are, and an upload tells when it last went on.
    @Sendable static func addQuotas(_ db: Database) throws {
        try db.execute(
            sql: """
                ALTER TABLE member_usage ADD COLUMN entries INTEGER NOT NULL DEFAULT 0;
                INSERT INTO member_usage(member, bytes, entries)
                    SELECT v.author, 0, count(*) FROM latest l JOIN version v ON v.revision = l.revision
                    WHERE v.kind < 2 GROUP BY v.author
                    ON CONFLICT(member) DO UPDATE SET entries = excluded.entries;
                INSERT INTO meta(name, value)
                    SELECT '\(Meta.entries)', count(*) FROM latest l JOIN version v ON v.revision = l.revision
                    WHERE v.kind < 2;
                ALTER TABLE upload ADD COLUMN touched INTEGER NOT NULL DEFAULT 0;
                CREATE INDEX upload_unfinished ON upload(member, touched) WHERE completed = 0;
                """)
    }
}

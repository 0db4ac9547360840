import GRDB

extension Schema {
    /// Entries have identities that moves keep, and members' operations are remembered.
    ///
    /// What happened before is told as if nothing had ever moved: an entry begins where its path was made.
    @Sendable static func addNodes(_ db: Database) throws {
        try db.execute(
            sql: """
                ALTER TABLE version ADD COLUMN node INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE version ADD COLUMN parent INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE version ADD COLUMN content_revision INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE version ADD COLUMN place_revision INTEGER NOT NULL DEFAULT 0;
                CREATE TABLE node(id INTEGER PRIMARY KEY, revision INTEGER NOT NULL) STRICT;
                CREATE TABLE operation(
                    number INTEGER PRIMARY KEY, id TEXT NOT NULL, member INTEGER NOT NULL, made INTEGER NOT NULL,
                    revision INTEGER NOT NULL) STRICT;
                CREATE UNIQUE INDEX operation_id ON operation(member, id);
                """)
        let kind = try db.makeStatement(sql: "SELECT kind FROM version WHERE revision = ?")
        let begin = try db.makeStatement(
            sql: """
                UPDATE version SET node = revision, content_revision = revision, place_revision = revision
                WHERE revision = ?
                """)
        let goOn = try db.makeStatement(
            sql: """
                UPDATE version SET content_revision = version.revision, node = before.node,
                    place_revision = before.place_revision
                FROM version before WHERE version.revision = ? AND before.revision = ?
                """)
        let versions = try Row.fetchCursor(db, sql: "SELECT revision, previous, kind FROM version ORDER BY revision")
        while let row = try versions.next() {
            let (revision, previous): (Int64, Int64) = (row[0], row[1])
            let before = previous == 0 ? nil : try Int.fetchOne(kind, arguments: [previous])
            if let before, before < 2 || row[2] as Int >= 2 {
                try goOn.execute(arguments: [revision, previous])
            } else {
                try begin.execute(arguments: [revision])
            }
        }
        try db.execute(
            sql: """
                UPDATE version SET parent = above.node
                FROM latest l JOIN latest a ON a.key = l.parent JOIN version above ON above.revision = a.revision
                WHERE version.revision = l.revision AND l.parent != '';
                INSERT INTO node(id, revision) SELECT node, max(revision) FROM version GROUP BY node;
                """)
    }
}

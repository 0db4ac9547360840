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

    /// Version 8: links have numbers and go with entries rather than paths.
    ///
    /// Those that lead somewhere and whose makers may still have them are kept, with their secrets and ends, as links to what
    /// is at their paths now. When they were made is not known: they were last asked for their lifetime before their end.
    @Sendable static func addLinkNodes(_ db: Database) throws {
        let (share, copy) = (Link.Purpose.share, Link.Purpose.copy)
        try db.execute(
            sql: """
                ALTER TABLE link RENAME TO path_link;
                CREATE TABLE link(
                    id INTEGER PRIMARY KEY AUTOINCREMENT, secret TEXT NOT NULL, purpose INTEGER NOT NULL,
                    member INTEGER NOT NULL, node INTEGER NOT NULL, revision INTEGER NOT NULL, created INTEGER NOT NULL,
                    expires INTEGER NOT NULL) STRICT;
                INSERT INTO link(secret, purpose, member, node, revision, created, expires)
                    SELECT p.secret, p.purpose, p.member, v.node, v.revision,
                        p.expires - iif(p.purpose = \(share.rawValue), \(share.lifetime), \(copy.lifetime)), p.expires
                    FROM path_link p JOIN member m ON m.uid = p.member
                    JOIN latest t ON t.key = replace(p.path, '/', char(1)) JOIN version v ON v.revision = t.revision
                    WHERE v.kind < 2 AND m.disabled = 0
                        AND (p.purpose != \(share.rawValue) OR m.role >= \(Role.editor.rawValue))
                    ORDER BY p.expires;
                DROP TABLE path_link;
                CREATE UNIQUE INDEX link_secret ON link(secret);
                CREATE INDEX link_node ON link(node, purpose, member);
                CREATE INDEX link_member ON link(member, purpose, expires);
                CREATE INDEX link_expires ON link(expires);
                """)
    }
}

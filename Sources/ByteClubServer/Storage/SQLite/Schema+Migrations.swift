import GRDB

/// The steps from each version of the database to the next; a released step never changes.
extension Schema {
    /// Version 2: roles, passwords, registered apps, devices in place of bare tokens, and what signing in needs.
    ///
    /// Whatever a client holds is kept as its SHA-256, but for OAuth 1, whose signatures need the secrets themselves.
    @Sendable static func addAccounts(_ db: Database) throws {
        try db.execute(
            sql: """
                ALTER TABLE member ADD COLUMN role INTEGER NOT NULL DEFAULT \(Role.editor.rawValue);
                ALTER TABLE member ADD COLUMN password TEXT;
                UPDATE member SET role = \(Role.owner.rawValue)
                    WHERE uid = (SELECT min(uid) FROM member WHERE disabled = 0);
                CREATE TABLE app(
                    key TEXT PRIMARY KEY, secret TEXT NOT NULL, name TEXT NOT NULL, redirects TEXT NOT NULL,
                    created INTEGER NOT NULL) WITHOUT ROWID, STRICT;
                INSERT INTO app SELECT k.value, s.value, '\(App.oauth1Name)', '', 0 FROM meta k, meta s
                    WHERE k.name = 'consumer_key' AND s.name = 'consumer_secret';
                CREATE TABLE device(
                    id INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB NOT NULL, secret TEXT, member INTEGER NOT NULL,
                    app TEXT NOT NULL, name TEXT NOT NULL, created INTEGER NOT NULL, seen INTEGER NOT NULL) STRICT;
                CREATE UNIQUE INDEX device_hash ON device(hash);
                CREATE INDEX device_member ON device(member);
                INSERT INTO device(hash, member, app, name, created, seen)
                    SELECT t.hash, t.member, '', '', m.created, m.created FROM token t JOIN member m ON m.uid = t.member;
                DROP TABLE token;
                CREATE TABLE request_token(
                    hash BLOB PRIMARY KEY, secret TEXT NOT NULL, app TEXT NOT NULL, member INTEGER,
                    expires INTEGER NOT NULL) WITHOUT ROWID, STRICT;
                CREATE TABLE grant_code(
                    hash BLOB PRIMARY KEY, app TEXT NOT NULL, member INTEGER NOT NULL, redirect TEXT, challenge TEXT,
                    device TEXT NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID, STRICT;
                CREATE TABLE web_session(
                    hash BLOB PRIMARY KEY, member INTEGER NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID, STRICT;
                CREATE TABLE invitation(
                    hash BLOB PRIMARY KEY, role INTEGER NOT NULL, inviter INTEGER NOT NULL, expires INTEGER NOT NULL)
                    WITHOUT ROWID, STRICT;
                """)
        let keys = try Row.fetchAll(
            db,
            sql: """
                SELECT o.token, o.secret, o.member, m.created, (SELECT key FROM app)
                FROM oauth1 o JOIN member m ON m.uid = o.member
                """)
        for row in keys {
            try db.execute(
                sql: """
                    INSERT INTO device(hash, secret, member, app, name, created, seen) VALUES (?, ?, ?, ?, '', ?, ?)
                    """,
                arguments: [
                    Secret.hash(row[0]), row[1] as String, row[2] as Int64, row[4] as String, row[3] as Int64,
                    row[3] as Int64,
                ])
        }
        try db.execute(
            sql: "DROP TABLE oauth1; DELETE FROM meta WHERE name IN ('consumer_key', 'consumer_secret')")
    }

    /// Version 3: each folder's newest change among its children is at hand, so that an unchanged listing is not read.
    ///
    /// A row stays as it is when history is forgotten, lest a listing get a hash that an older one had.
    static let addListings = """
        CREATE TABLE listing(folder TEXT PRIMARY KEY, newest INTEGER NOT NULL) WITHOUT ROWID, STRICT;
        INSERT INTO listing(folder, newest) SELECT parent, max(revision) FROM latest GROUP BY parent;
        """

    /// Version 4: links to paths, and details of photos.
    static let addLinks = """
        CREATE TABLE link(
            secret TEXT PRIMARY KEY, purpose INTEGER NOT NULL, member INTEGER NOT NULL, path TEXT NOT NULL,
            expires INTEGER NOT NULL) WITHOUT ROWID, STRICT;
        CREATE UNIQUE INDEX link_path ON link(path, purpose, member);
        CREATE INDEX link_expires ON link(expires);
        CREATE TABLE media_info(
            hash BLOB PRIMARY KEY, taken INTEGER, latitude REAL, longitude REAL) WITHOUT ROWID, STRICT;
        """

    /// Version 5: entries have identities that moves keep, and members' operations are remembered.
    ///
    /// The earlier history is kept as if nothing had ever moved: an entry begins where its path was made.
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

    /// Version 6: the bytes of each member are counted, and versions that were replaced long ago can be removed.
    static let addHistory = """
        CREATE TABLE member_usage(member INTEGER PRIMARY KEY, bytes INTEGER NOT NULL) STRICT;
        INSERT INTO member_usage(member, bytes)
            SELECT v.author, sum(v.bytes) FROM latest l JOIN version v ON v.revision = l.revision
            WHERE v.bytes > 0 GROUP BY v.author;
        CREATE TABLE history_mark(age INTEGER PRIMARY KEY, revision INTEGER NOT NULL) STRICT;
        ALTER TABLE upload ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;
        INSERT INTO meta(name, value) VALUES ('\(Meta.purged)', 0), ('\(Meta.forgotten)', 0);
        """

    /// Version 7: entries are counted as their bytes are, and an upload has the time of its last chunk.
    static let addQuotas = """
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
        """

    /// Version 8: links have numbers and follow entries rather than paths.
    ///
    /// Links that lead to an entry, and whose makers may still have them, are kept with their secrets and ends as links
    /// to the entries that are at their paths now. The time of their making is unknown: they were last asked for their
    /// lifetime before their end.
    static let addLinkNodes = """
        ALTER TABLE link RENAME TO path_link;
        CREATE TABLE link(
            id INTEGER PRIMARY KEY AUTOINCREMENT, secret TEXT NOT NULL, purpose INTEGER NOT NULL,
            member INTEGER NOT NULL, node INTEGER NOT NULL, revision INTEGER NOT NULL, created INTEGER NOT NULL,
            expires INTEGER NOT NULL) STRICT;
        INSERT INTO link(secret, purpose, member, node, revision, created, expires)
            SELECT p.secret, p.purpose, p.member, v.node, v.revision,
                p.expires - iif(p.purpose = \(Link.Purpose.share.rawValue), 365 * 86400,
                    \(Link.Purpose.copy.lifetime)), p.expires
            FROM path_link p JOIN member m ON m.uid = p.member
            JOIN latest t ON t.key = replace(p.path, '/', char(1)) JOIN version v ON v.revision = t.revision
            WHERE v.kind < 2 AND m.disabled = 0
                AND (p.purpose != \(Link.Purpose.share.rawValue) OR m.role >= \(Role.editor.rawValue))
            ORDER BY p.expires;
        DROP TABLE path_link;
        CREATE UNIQUE INDEX link_secret ON link(secret);
        CREATE INDEX link_node ON link(node, purpose, member);
        CREATE INDEX link_member ON link(member, purpose, expires);
        CREATE INDEX link_expires ON link(expires);
        """

    /// Version 9: versions have the time of their contents, in nanoseconds since 1970; that of older ones is unknown.
    static let addFileTimes = "ALTER TABLE version ADD COLUMN client_modified INTEGER"

    /// Version 10: the words of names and texts are indexed; the server does so behind the writers.
    static let addSearch = """
        CREATE TABLE searchable(
            id INTEGER PRIMARY KEY, node INTEGER NOT NULL, name TEXT NOT NULL, hash BLOB) STRICT;
        CREATE UNIQUE INDEX searchable_node ON searchable(node);
        CREATE VIRTUAL TABLE search_index USING fts5(
            name, body, content = '', columnsize = 0, tokenize = 'ascii', prefix = '2 3');
        CREATE VIRTUAL TABLE search_word USING fts5vocab(search_index, row);
        INSERT INTO meta(name, value) VALUES ('\(Meta.indexed)', 0), ('\(Meta.folding)', 0);
        """

    /// Version 11: versions have the executable bit of their files; that of older ones is unknown.
    static let addExecutable = "ALTER TABLE version ADD COLUMN executable INTEGER"

    /// Version 12: the shapes of photos are kept, contents of photos are found by their hashes, and links may have
    /// passwords.
    ///
    /// Earlier details of photos have no shape, and are read again. The index holds only photos, so that notes, of
    /// which there are many, cost nothing more.
    static let addPhotos = """
        DROP TABLE media_info;
        CREATE TABLE media_info(
            hash BLOB PRIMARY KEY, version INTEGER NOT NULL, taken INTEGER, latitude REAL, longitude REAL,
            kind TEXT, width INTEGER, height INTEGER, hfov REAL, vfov REAL, yaw REAL, pitch REAL, heading REAL,
            estimate INTEGER) WITHOUT ROWID, STRICT;
        CREATE INDEX version_photo ON version(hash) WHERE \(SQLiteStore.isPhoto);
        ALTER TABLE link ADD COLUMN password TEXT;
        ALTER TABLE link ADD COLUMN keeps_location INTEGER NOT NULL DEFAULT 0;
        """
}

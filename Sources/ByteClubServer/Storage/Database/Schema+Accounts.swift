import GRDB

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
}

import GRDB

extension Schema {
    /// Version 2: members have roles.
    @Sendable static func addAccounts(_ db: Database) throws {
        try db.execute(
            sql: """
                ALTER TABLE member ADD COLUMN role INTEGER NOT NULL DEFAULT \(Role.editor.rawValue);
                """)
    }
}

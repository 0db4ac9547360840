import ByteClubCore

/// Migrates revisions from the numbers of schema version 3 to the server's texts.
///
/// The tables are made anew: a column that is declared as a number would take a text like `5e00000001` for one.
struct RevisionMigration {
    /// The schema version that it migrates from.
    static let version: Int64 = 3

    private let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// Migrates the pending installs.
    func moveRecords() throws(SyncError) {
        let table = RecordTable.pendingInstall
        try rebuild(table.rawValue, table.definition, ["revision": Self.text("revision")])
    }

    /// Migrates the items.
    func moveItems() throws(SyncError) {
        let revision = Self.text("r_revision")
        try rebuild(
            "item", DatabaseFile.itemTable,
            [
                "flags": "flags | CASE WHEN r_revision = -1 THEN \(ItemFlags.isUnverified.rawValue) ELSE 0 END",
                "r_revision": revision,
                "s_revision": """
                CASE WHEN s_parent IS NOT NULL AND \(Self.text("s_revision")) IS NOT \(revision)
                THEN coalesce(\(Self.text("s_revision")), '') END
                """,
            ])
        try connection.run(DatabaseFile.itemIndices)
    }

    /// The text of a number, in the only namespace that an engine knew; NULL for 0 and for what must be verified.
    private static func text(_ column: String) -> String {
        "CASE WHEN \(column) > 0 THEN printf('%x00000001', \(column)) END"
    }

    /// Makes a table anew, with some columns' values changed; its indices are gone.
    private func rebuild(
        _ table: String, _ definition: String, _ changes: [String: String]
    ) throws(SyncError) {
        let columns = try connection.columns(of: table)
        let values = columns.map { changes[$0] ?? $0 }.joined(separator: ", ")
        try connection.run(
            """
            ALTER TABLE \(table) RENAME TO former;
            \(definition);
            INSERT INTO \(table)(\(columns.joined(separator: ", "))) SELECT \(values) FROM former;
            DROP TABLE former
            """)
    }
}

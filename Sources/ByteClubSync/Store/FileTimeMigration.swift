import ByteClubCore

/// Makes room for what schema version 5 did not keep: when the server's contents were made.
struct FileTimeMigration {
    /// The schema version that it migrates from.
    static let version: Int64 = 5

    private let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// Adds the items' column.
    func addColumn() throws(SyncError) { try connection.run("ALTER TABLE item ADD COLUMN r_modified INT") }

    /// Has all folders listed once, since it is not known of their files whether they are executable.
    func forgetListings() throws(SyncError) { try connection.run("DELETE FROM seal") }
}

import ByteClubCore

/// Makes the tables that schema version 4 did not have: those of deletions that belong together.
struct WaveMigration {
    /// The schema version that it migrates from.
    static let version: Int64 = 4

    private let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// Makes the tables.
    func run() throws(SyncError) {
        for table in [RecordTable.deletionWave, .sentDeletion] { try connection.run(table.definition) }
    }
}

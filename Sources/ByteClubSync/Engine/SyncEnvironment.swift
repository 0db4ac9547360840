import ByteClubCore

/// All that a session meets of the world beside the server, so that a simulation can be the world.
struct SyncEnvironment: Sendable {
    /// The file system under the mirror.
    var disk: any Disk
    /// Opens the database; called once, where the session runs.
    var openStore: @Sendable () throws -> any TreeStore
    /// Keeps earlier contents of notes.
    var bases: any BaseStore
    /// Runs the session's own work, one piece at a time.
    var executor: any SerialExecutor
    /// Runs what goes on beside that; nil for the system's threads.
    var workers: (any TaskExecutor)?
    /// The session's time.
    var clock: any SyncClock
}

extension SyncEnvironment {
    /// The machine that this runs on.
    init(_ configuration: SyncConfiguration) throws {
        let path = configuration.databasePath
        self.init(
            disk: LinuxDisk(configuration.directory),
            openStore: { try SQLiteTreeStore(path: path) },
            bases: NoBases(),
            executor: try ThreadExecutor(),
            clock: MonotonicClock())
    }
}

/// Where contents of notes are kept that both sides had once: the bases of merges.
///
/// A cache: what it loses, the server's history may have, and without either both texts are kept side by side.
protocol BaseStore: Sendable {
    /// Keeps a content for as long as there is room.
    func keep(_ bytes: [UInt8], _ hash: ContentHash)
    /// A content that was kept, checked against its hash; nil when it is not there any more.
    func content(_ hash: ContentHash) -> [UInt8]?
}

/// Keeps nothing: merges have to find their bases in the server's history.
struct NoBases: BaseStore {
    func keep(_: [UInt8], _: ContentHash) {}
    func content(_: ContentHash) -> [UInt8]? { nil }
}

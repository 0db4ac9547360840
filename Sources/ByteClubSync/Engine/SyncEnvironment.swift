import ByteClubCore

/// All of the outside world that a session uses, except the server; a simulation replaces it.
struct SyncEnvironment: Sendable {
    /// The file system under the mirror.
    var disk: any Disk
    /// Opens the database; called once, where the session runs.
    var openStore: @Sendable () throws -> any TreeStore
    /// Runs the session's own work, one piece at a time.
    var executor: any SerialExecutor
    /// Runs background work, which may block; nil for the system's threads.
    var workers: (any TaskExecutor)?
    /// The session's time.
    var clock: any SyncClock
    /// Up to how many bytes a file travels with others in a group, as photos do; larger ones travel by themselves.
    var groupedBytes = ChunkManifest.maximumChunkBytes
}

extension SyncEnvironment {
    /// The environment of the real machine.
    init(_ configuration: SyncConfiguration) throws {
        let path = configuration.databasePath
        self.init(
            disk: LinuxDisk(configuration.directory),
            openStore: { try SQLiteTreeStore(path: path) },
            executor: try ThreadExecutor(),
            workers: try WorkerThreads(),
            clock: MonotonicClock())
    }
}

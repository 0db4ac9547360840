import ByteClubCore

extension Surroundings {
    /// The machine that this runs on.
    init(_ configuration: SyncConfiguration) throws {
        let path = configuration.databasePath
        let start = ContinuousClock.now
        self.init(
            disk: LinuxDisk(configuration.directory),
            openStore: { try SQLiteTreeStore(path: path) },
            bases: NoBases(),
            executor: try ThreadExecutor(),
            uptime: { ContinuousClock.now - start },
            sleep: { try await Task.sleep(for: $0) })
    }
}

/// Keeps nothing: merges have to find their bases in the server's history.
struct NoBases: BaseStore {
    func keep(_: [UInt8], _: ContentHash) {}
    func content(_: ContentHash) -> [UInt8]? { nil }
}

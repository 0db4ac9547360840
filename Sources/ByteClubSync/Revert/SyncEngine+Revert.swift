public import ByteClubCore

extension SyncEngine {
    /// Takes back what was changed in the mirror, at a path and below it, and is not on the server.
    ///
    /// Edits and new entries go to the mirror's trash, and what was renamed gets its name again; the next sync downloads
    /// what was edited or deleted here. The server is not asked. In a dry run nothing is changed, and a sync may run.
    ///
    /// - Returns: The changes, in the order of their paths.
    /// - Throws: ``SyncError`` with the code `alreadyRunning` while a sync of the mirror runs, `io` when the disk refuses.
    public static func revert(
        _ path: String, of configuration: SyncConfiguration, isDryRun: Bool
    ) throws(SyncError) -> [LocalChange] {
        do {
            if isDryRun { return try takeBack(path, configuration, isDryRun: true) }
            guard let lock = try MirrorLock(in: configuration.stateDirectory) else {
                let advice = MirrorLock.advice(
                    in: configuration.stateDirectory, then: ", and restart it afterwards")
                throw SyncError(.alreadyRunning, "a sync of '\(configuration.directory)' is running\(advice)")
            }
            let changes = try takeBack(path, configuration, isDryRun: false)
            if !lock.wasUnclean { lock.markClean() }
            return changes
        } catch {
            throw SyncError.wrapping(error)
        }
    }

    private static func takeBack(
        _ path: String, _ configuration: SyncConfiguration, isDryRun: Bool
    ) throws -> [LocalChange] {
        let database = configuration.databasePath
        var environment = try SyncEnvironment(configuration)
        if isDryRun { environment.openStore = { try SQLiteTreeStore.scratchCopy(path: database) } }
        let store = try environment.openStore()
        defer { try? store.close() }
        // Before a whole pass over the server's state all looks as if it had been made here.
        guard try store.meta(.cursor) != nil, try store.meta(.isSweepPending) == nil else {
            throw SyncError(
                .configuration,
                "'\(configuration.directory)' has not been compared with the server yet; let a sync finish first")
        }
        let root = try MirrorRoot(configuration, environment, store, isDryRun: isDryRun)
        let context = SyncContext(configuration, environment, store: store, root: root.folder, isWatching: false)
        let scanner = Scanner(root: root.folder, store: store)
        let reversal = LocalReversal(context: context)
        var report = SyncReport()
        let local = isDryRun ? nil : LocalReplica(context, try ControlDirectory(in: root.folder), scanner)
        try local?.recover(besides: [], &report)
        var deletions = DeletionGuard(configuration.deleteGuard, approvesAll: false)
        _ = try (local?.scope ?? SyncScope(context, scanner)).reload(&deletions, &report)
        _ = try scanner.scan(.everything, confirmsDeletions: true)
        let steps = try reversal.steps(below: path, FileReader(context, scanner))
        if let local { try reversal.run(steps, local) }
        // What lies in a new folder goes with it.
        let new = Set(steps.lazy.filter { $0.change.kind == .new }.map(\.change.path))
        return steps.map(\.change).filter { $0.kind != .new || !new.contains(LocalPath.split($0.path).parent) }
    }
}

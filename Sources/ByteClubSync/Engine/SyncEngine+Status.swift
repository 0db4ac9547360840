public import ByteClubCore

extension SyncEngine {
    /// The status of a mirror, from its database; only copies of conflicts are looked up on disk.
    ///
    /// - Throws: ``SyncError`` with the code `database` when that cannot be read.
    public static func status(of configuration: SyncConfiguration) throws(SyncError) -> SyncStatus {
        var status =
            try configuration.read { store in
                var status = try SyncStatus(store, now: WallClock.now() / 1_000_000_000)
                status.conflicts = try ConflictList(store: store, directory: configuration.directory)
                    .conflicts(all: false)
                return status
            } ?? SyncStatus()
        status.isRunning = configuration.isRunning
        // An engine that was killed leaves it.
        if !status.isRunning { status.waitsForUnmetered = false }
        return status
    }

    /// The newest events of the log, newest last.
    ///
    /// `path` limits them to one path and the paths below it, `after` to the events after the one of that number.
    public static func log(
        of configuration: SyncConfiguration, below path: String?, after: Int64?, limit: Int
    ) throws(SyncError) -> [SyncLogEntry] {
        try configuration.read { store in
            try store.events(after: after, limit: limit, below: path).map { number, record in
                SyncLogEntry(
                    seq: number, at: record.at, path: record.path, event: record.event, rule: record.rule,
                    detail: record.detail)
            }
        } ?? []
    }
}

extension SyncStatus {
    /// Reads a database.
    init(_ store: SQLiteTreeStore, now: Int64) throws {
        self.init()
        isKnown = true
        (files, folders, bytes) = try store.totals()
        pending = try store.unsettledCount()
        lastSync = try store.meta(.lastSync).flatMap { Int64($0) }
        switch try store.meta(.pausedUntil).flatMap({ Pause($0, now: now) }) {
        case nil: break
        case .forever: isPaused = true
        case .until(let time): (isPaused, pausedUntil) = (true, time)
        }
        obstacle = try store.records(ObstacleRecord.self).first
            .map { Obstacle(since: $0.since, message: $0.message) }
        watching = try store.meta(.watching)
        waitsForUnmetered = try store.meta(.metered) != nil
        problems = try store.problems().map { Problem(path: $0.path, message: $0.message) }
        held = try store.heldDeletions().map(HeldDeletion.init)
        heldRules = HeldRules(try store.records(HeldRulesRecord.self).first)
        ignored = try store.ignored()
    }
}

extension SyncStatus.HeldDeletion {
    init(_ held: HeldDeletionRecord) {
        self.init(path: held.path, side: held.side == .local ? "local" : "remote", since: held.since)
    }
}

extension SyncStatus.HeldRules {
    init?(_ held: HeldRulesRecord?) {
        guard let held else { return nil }
        self.init(entries: held.entries, synced: held.synced, since: held.since)
    }
}

extension SyncStatus.Conflict {
    init(_ conflict: ConflictRecord) {
        self.init(path: conflict.path, copy: conflict.copy, at: conflict.at, isResolved: conflict.isResolved)
    }
}

extension SyncEngine {
    /// The identity of the mirror that has its root in a directory; nil when there is none, or it cannot be read.
    public static func marker(in directory: String) -> String? {
        guard let root = try? LinuxDisk(directory).openRoot() else { return nil }
        return try? ControlDirectory.marker(in: root)
    }

    /// A directory's handle (name_to_handle_at(2)); nil when the file system has none.
    ///
    /// It differs from that of every other directory, copies included, and a move on the same disk keeps it.
    public static func handle(of directory: String) -> String? {
        guard let handle = try? LinuxDisk(directory).openRoot().stat().handle else { return nil }
        return "\(handle.high) \(handle.low)"
    }

    /// The identity that a mirror's database knows its root by; nil before the first sync.
    ///
    /// - Throws: ``SyncError`` with the code `database` when that cannot be read.
    public static func identity(of configuration: SyncConfiguration) throws(SyncError) -> String? {
        try configuration.read { try $0.meta(.mirrorID) } ?? nil
    }

    /// Makes a mirror an ordinary directory and removes its state; its files and the contents of its trash stay.
    ///
    /// - Returns: Whether its trash or staging is kept, because it is not empty.
    /// - Throws: ``SyncError`` with the code `alreadyRunning` while a sync of it runs, `io` when the disk refuses.
    public static func unlink(_ configuration: SyncConfiguration) throws(SyncError) -> Bool {
        try SyncError.wrapped {
            let id = try? identity(of: configuration)
            guard let lock = try MirrorLock(in: configuration.stateDirectory) else {
                let advice = MirrorLock.advice(in: configuration.stateDirectory, then: " first")
                throw SyncError(.alreadyRunning, "a sync of '\(configuration.directory)' is running\(advice)")
            }
            // The lock is held until its file is removed.
            return try withExtendedLifetime(lock) {
                // A database without a mirror would take the next one of this path for its own, not the reverse.
                try removeState(configuration.stateDirectory)
                guard let id, marker(in: configuration.directory) == id else { return false }
                return try ControlDirectory.remove(from: LinuxDisk(configuration.directory).openRoot())
            }
        }
    }

    private static func removeState(_ directory: String) throws(FileError) {
        let parts = LocalPath.split(directory)
        let mirrors = try LinuxDisk("/" + parts.parent).openRoot()
        let state = try mirrors.folder(parts.name)
        let names = try state.list().filter { $0.kind == .file }.map(\.name)
        for name in names where name != MirrorLock.fileName { try state.removeFile(name) }
        if names.contains(MirrorLock.fileName) { try state.removeFile(MirrorLock.fileName) }
        try mirrors.removeFolder(parts.name)
        try mirrors.sync()
    }
}

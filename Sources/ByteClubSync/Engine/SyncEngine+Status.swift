public import ByteClubCore

extension SyncEngine {
    /// The status of a mirror, from its database; of the files only the copies of conflicts are looked at.
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
        return status
    }

    /// The newest events of the log, newest last, of one path and what is below it when that is given; with `after`
    /// only those behind the one of that number.
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

import ByteClubCore

/// Judges a mirror's planned deletions, and keeps their wave: counted, in the database, and beyond this engine's end.
struct DeletionDesk {
    private let context: SyncContext
    /// The guard, with the only copy of the wave.
    var deletions: DeletionGuard
    /// Whether the server may have deleted more than is counted, since an answer is missing.
    private var isCountUnsure = true

    private var store: any TreeStore { context.store }
    private var now: SyncInstant { context.environment.clock.now }

    /// Continues the wave that the last engine has left.
    init(_ context: SyncContext) throws {
        self.context = context
        let configuration = context.configuration
        deletions = DeletionGuard(configuration.deleteGuard, approvesAll: configuration.approvesDeletions)
        deletions.wave = try context.store.wave(at: context.environment.clock.now, seconds: context.seconds)
        try noticeStart()
    }

    /// Has the items that are made from now on count as made within the wave, unless it began before.
    private mutating func noticeStart() throws {
        if deletions.wave.last != nil, deletions.wave.start == nil { deletions.wave.notice(try store.newItem()) }
    }

    /// Forgets the wave when a person has decided about it, which removes its record.
    mutating func forgetDecided() throws {
        guard deletions.wave.last != nil, deletions.wave.unstored != .everything else { return }
        if try store.records(DeletionWaveRecord.self).isEmpty { deletions.wave = DeletionWave() }
    }

    /// Decides about planned deletions; entries that were renamed to an unsynced name are held, whatever the threshold.
    mutating func judge(_ planned: [PlannedOperation], isSettling: Bool) throws -> DeletionGuard.Verdict {
        try forgetDecided()
        if isCountUnsure, deletions.wave.last != nil, deletions.wave.unstored != .everything, !planned.isEmpty {
            deletions.wave.recount(try store.goneInWave())
            isCountUnsure = false
        }
        var verdict = deletions.judge(
            try store.candidates(planned, in: deletions.wave), of: try store.syncedCount(),
            approved: Set(try store.records(ApprovedDeletion.self).map(\.item)),
            held: Set(try store.heldDeletions().map(\.item)), isSettling: isSettling, at: now)
        for move in try store.candidates(store.unsyncedDeletions(), in: deletions.wave) { verdict.hold(move) }
        try noticeStart()
        return verdict
    }

    /// Stores the wave before the server deletes items, with what restores them.
    mutating func prepare(_ items: [ItemID], _ verdict: DeletionGuard.Verdict) throws {
        if verdict.isOfWave, !items.isEmpty {
            try store.remember(items, of: deletions.wave, seconds: context.seconds)
            deletions.wave.stored()
        } else {
            // Also when nothing is deleted: a restore of the held deletions must not restore those of an earlier wave.
            try storeWave()
        }
        if !items.isEmpty { isCountUnsure = true }
    }

    /// Notes that the server has answered about all items that it was to delete.
    mutating func answered() { isCountUnsure = false }

    /// Counts the deletions of a step, except for entries that were made within the wave.
    mutating func count(_ deleted: [ItemID]) {
        deletions.count(deleted.count(where: deletions.wave.counts), at: now)
    }

    /// Stores the wave when it has begun or grown, so that the next engine continues it.
    mutating func storeWave() throws {
        if deletions.wave.unstored == .nothing { return }
        try store.save(deletions.wave, seconds: context.seconds)
        deletions.wave.stored()
    }
}

extension TreeStore {
    /// The planned deletions as the guard judges them in a wave.
    func candidates(_ deletions: [PlannedOperation], in wave: DeletionWave) throws -> [DeletionGuard.Candidate] {
        try deletions.map { operation in
            guard operation.side == .remote else { return DeletionGuard.Candidate(operation: operation, weight: 1) }
            var (weight, fresh) = (1, wave.counts(operation.item) ? 0 : 1)
            if try item(operation.item)?.isFolder == true {
                try visitRemote(below: operation.item) { item in
                    weight += 1
                    if !wave.counts(item.id) { fresh += 1 }
                }
            }
            return DeletionGuard.Candidate(operation: operation, weight: weight, fresh: fresh)
        }
    }

    /// The wave of deletions that the last engine stored, in the time of this engine's clock.
    ///
    /// Its age depends on the time of day; a clock that was set back makes the wave last longer.
    func wave(at now: SyncInstant, seconds: Int64) throws -> DeletionWave {
        guard let known = try records(DeletionWaveRecord.self).first else { return DeletionWave() }
        let (age, isPast) = seconds.subtractingReportingOverflow(known.last)
        let last = isPast ? now : SyncInstant(sinceStart: now.sinceStart - .seconds(max(0, age)))
        var wave = DeletionWave(size: known.size, count: known.count, last: last)
        wave.recount(try goneInWave())
        wave.stored()
        return wave
    }

    /// How many of the remembered deletions have happened, by the server's side of the trees.
    ///
    /// An engine may have been stopped, or have lost an answer, before it counted them.
    func goneInWave() throws -> Int {
        try records(SentDeletion.self).count { try !$0.isWanted && item($0.item)?.remote == nil }
    }

    /// Stores a wave of deletions; a new wave replaces an earlier one and its remembered deletions.
    func save(_ wave: DeletionWave, seconds: Int64) throws {
        try transaction(durably: false) { try keep(wave, seconds) }
    }

    private func keep(_ wave: DeletionWave, _ seconds: Int64) throws {
        if wave.unstored == .everything { try replace(try records(SentDeletion.self).filter(\.isWanted)) }
        try replace([DeletionWaveRecord(last: seconds, size: wave.size, count: wave.count)])
    }

    /// Remembers the entries older than the wave that it is about to delete on the server, folders with their contents,
    /// as long as there is room; stores the wave when it is new.
    func remember(_ deletions: [ItemID], of wave: DeletionWave, seconds: Int64) throws {
        try transaction(durably: true) {
            if wave.unstored == .everything { try keep(wave, seconds) }
            var room = SentDeletion.most - (try records(SentDeletion.self).count)
            let remember = { (item: Item) in
                guard room > 0, wave.counts(item.id), let remote = item.remote else { return }
                room -= 1
                try self.save(
                    SentDeletion(
                        item.id, path: try self.path(of: item.id, on: .remote),
                        revision: remote.isFolder ? nil : remote.revision, hash: remote.hash))
            }
            for id in deletions {
                guard let item = try item(id) else { continue }
                try remember(item)
                if item.isFolder { try visitRemote(below: id, remember) }
            }
        }
    }

    /// Forgets a remembered deletion, and the problem that kept the entry from being restored.
    func forget(_ deletion: SentDeletion) throws {
        try removeRecord(SentDeletion.self, .number(deletion.item.number))
        for problem in try problems(below: deletion.path) where problem.path == deletion.path {
            let isOfUndeletion =
                problem.item == nil && !problem.isFromScan && problem.message.hasPrefix(SentDeletion.complaint)
            if isOfUndeletion { try setProblem(nil, path: problem.path) }
        }
    }

    /// Forgets the wave of deletions, and its deletions except for those that are being restored.
    func forgetWave() throws {
        try replace([DeletionWaveRecord]())
        try replace(try records(SentDeletion.self).filter(\.isWanted))
    }
}

extension SentDeletion {
    fileprivate static let complaint = "it was not restored from the server's history"

    /// The problem of an entry that the server does not restore.
    static func problem(at path: String, _ error: RemoteError) -> ProblemRecord {
        let message = "\(complaint): \(error.message); 'byteclub sync deletes approve' keeps it deleted"
        return ProblemRecord(path: path, item: nil, message: message, isFromScan: false)
    }
}

extension SyncEvent {
    /// The event of a deletion that the guard holds, on the side where it would be done.
    static func held(_ path: String, on side: Side) -> SyncEvent {
        let remedy = side == .remote ? "put the files back, or " : "others removed this; "
        return SyncEvent(
            .held, path: path,
            message: "too many deletions at once; \(remedy)see 'byteclub sync deletes review'")
    }
}

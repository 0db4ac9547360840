import ByteClubCore

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

    /// The wave of deletions as the last engine left it, in the time of this one's clock.
    ///
    /// The time of day only tells how long ago that was; one that was set back makes it last longer.
    func wave(at now: SyncInstant, seconds: Int64) throws -> DeletionWave {
        guard let known = try records(DeletionWaveRecord.self).first else { return DeletionWave() }
        let (age, isPast) = seconds.subtractingReportingOverflow(known.last)
        let last = isPast ? now : SyncInstant(sinceStart: now.sinceStart - .seconds(max(0, age)))
        var wave = DeletionWave(size: known.size, count: known.count, last: last)
        wave.recount(try goneInWave())
        return wave
    }

    /// How many of the entries that were to be deleted are gone on the server, as far as it has told.
    ///
    /// An engine may have been stopped, or have lost an answer, before it had counted what it had sent.
    func goneInWave() throws -> Int {
        try records(SentDeletion.self).count { try !$0.isWanted && item($0.item)?.remote == nil }
    }

    /// Stores a wave of deletions; of a new one, what an earlier one has deleted is forgotten.
    func save(_ wave: DeletionWave, seconds: Int64) throws {
        try transaction(durably: false) { try keep(wave, seconds) }
    }

    private func keep(_ wave: DeletionWave, _ seconds: Int64) throws {
        if wave.isNew { try replace(try records(SentDeletion.self).filter(\.isWanted)) }
        try replace([DeletionWaveRecord(last: seconds, size: wave.size, count: wave.count)])
    }

    /// Remembers what a wave is about to delete on the server of what is older, with all that is in it, as long as there
    /// is room, and the wave itself when it is new.
    func remember(_ deletions: [ItemID], of wave: DeletionWave, seconds: Int64) throws {
        try transaction(durably: true) {
            if wave.isNew { try keep(wave, seconds) }
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

    /// Forgets an entry that was deleted, and why it was not brought back.
    func forget(_ deletion: SentDeletion) throws {
        try removeRecord(SentDeletion.self, .number(deletion.item.number))
        for problem in try problems(below: deletion.path) where problem.path == deletion.path {
            if problem.isOfUndeletion { try setProblem(nil, path: problem.path) }
        }
    }

    /// Forgets the wave of deletions and what it has deleted.
    func forgetWave() throws {
        try replace([DeletionWaveRecord]())
        try replace(try records(SentDeletion.self).filter(\.isWanted))
    }
}

extension SentDeletion {
    fileprivate static let complaint = "it was not restored from the server's history"

    /// What is wrong with an entry that the server does not bring back.
    static func problem(at path: String, _ error: RemoteError) -> ProblemRecord {
        let message = "\(complaint): \(error.message); 'byteclub sync deletes approve' keeps it deleted"
        return ProblemRecord(path: path, item: nil, message: message, isFromScan: false)
    }
}

extension ProblemRecord {
    fileprivate var isOfUndeletion: Bool {
        item == nil && !isFromScan && message.hasPrefix(SentDeletion.complaint)
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

import ByteClubCore

extension TreeStore {
    /// The planned deletions as the guard judges them.
    func candidates(_ deletions: [PlannedOperation]) throws -> [DeletionGuard.Candidate] {
        try deletions.map { operation in
            let weight = operation.side == .remote ? try remoteCount(operation.item) : 1
            return DeletionGuard.Candidate(operation: operation, weight: weight)
        }
    }

    /// The wave of deletions as the last engine left it, in the time of this one's clock.
    ///
    /// The time of day only tells how long ago that was; one that was set back makes it last longer.
    func wave(at now: SyncInstant, seconds: Int64) throws -> DeletionWave {
        guard let known = try records(DeletionWaveRecord.self).first else { return DeletionWave() }
        // An engine may have been stopped before it had counted what it had sent.
        let gone = try records(SentDeletion.self).count { try !$0.isWanted && item($0.item)?.remote == nil }
        let (age, isPast) = seconds.subtractingReportingOverflow(known.last)
        let last = isPast ? now : SyncInstant(sinceStart: now.sinceStart - .seconds(max(0, age)))
        return DeletionWave(size: known.size, count: max(known.count, gone), last: last)
    }

    /// Stores a wave of deletions; one without any is none.
    func save(_ wave: DeletionWave, seconds: Int64) throws {
        let record = DeletionWaveRecord(last: seconds, size: wave.size, count: wave.count)
        try transaction(durably: false) { try replace(wave.count > 0 ? [record] : []) }
    }

    /// Remembers what is about to be deleted on the server, with all that is in it, as long as there is room; with
    /// `isNew`, what an earlier wave has deleted is forgotten.
    func remember(_ deletions: [ItemID], isNew: Bool) throws {
        try transaction(durably: true) {
            var known = try records(SentDeletion.self)
            if isNew {
                known.removeAll { !$0.isWanted }
                try replace(known)
            }
            var room = SentDeletion.most - known.count
            let remember = { (item: Item) in
                guard room > 0, let remote = item.remote else { return }
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
    fileprivate static let complaint = "it is not brought back from the server's history"

    /// What is wrong with an entry that the server does not bring back.
    static func problem(at path: String, _ error: RemoteError) -> ProblemRecord {
        let message = "\(complaint): \(error.message); 'byteclub sync deletes approve' leaves it deleted"
        return ProblemRecord(path: path, item: nil, message: message, isFromScan: false)
    }
}

extension ProblemRecord {
    fileprivate var isOfUndeletion: Bool {
        item == nil && !isFromScan && message.hasPrefix(SentDeletion.complaint)
    }
}

extension SyncEvent {
    /// The event of a deletion that the guard holds.
    static func held(_ path: String) -> SyncEvent {
        SyncEvent(
            .held, path: path,
            message:
                "too many deletions at once to be believed; put the files back, or see 'byteclub sync deletes review'")
    }
}

import ByteClubCore

/// How a cycle ended.
struct CycleOutcome: Sendable {
    /// Whether deletions were put off until the disk is quiet.
    var hasSpared = false
    /// Folders that changed within the last moments, and are looked at once more.
    var restless: Set<ItemID> = []
    /// When something that had to wait is tried again, on the engine's clock.
    var nextLook: Duration?
    /// How many entries' deletions the guard holds.
    var held = 0
    /// Whether large files wait until the schedule lets them travel.
    var isScheduled = false
    /// Until when syncing is paused, in seconds since 1970; nil when it is not.
    var pausedUntil: Int64?
}

extension Mirror {
    /// Rounds of look, plan and act, until mirror and server agree or only what must wait is left.
    ///
    /// `saved` are files that a glance is worth before the scope is looked at. `isUnquiet` tells whether the disk is
    /// changing right now; then nothing is deleted on the server yet.
    func cycle(
        _ scope: ScanScope, saved: SavedFiles = [:], waitsForTransfers: Bool,
        isUnquiet: @Sendable () -> Bool = { false }
    ) async throws -> CycleOutcome {
        do {
            let outcome = try await rounds(
                scope, saved, waitsForTransfers: waitsForTransfers, isUnquiet: isUnquiet)
            if try store.meta(.obstacle) != nil { try store.setMeta(.obstacle, nil) }
            return outcome
        } catch {
            // Whatever was under way may have left something in staging.
            isStagingUnclear = true
            try? Self.note(obstacle: SyncError.wrapping(error), in: store, at: seconds)
            throw error
        }
    }

    /// Keeps what is in the way of the whole mirror, for those who ask why.
    static func note(obstacle error: SyncError, in store: any TreeStore, at seconds: Int64) throws {
        if error.code == .cancelled { return }
        if let known = try store.meta(.obstacle).flatMap({ Obstacle($0) }), known.message == error.message { return }
        try store.setMeta(.obstacle, Obstacle(since: seconds, message: error.message).text)
    }

    private func rounds(
        _ scope: ScanScope, _ saved: SavedFiles, waitsForTransfers: Bool, isUnquiet: @Sendable () -> Bool
    ) async throws -> CycleOutcome {
        var outcome = CycleOutcome()
        if let until = try pausedUntil() {
            outcome.pausedUntil = until
            return outcome
        }
        try checkRoot()
        try catchLateWriters()
        if isStagingUnclear { try recover() }
        var scope = try loadRules() ? .everything : scope
        if scope == .everything { ignored = nil }
        var (idle, failures) = (0, 0)
        hasLooked = []
        scheduled = []
        queued = []
        restless = []
        if scope != .everything { scope = scope.adding(try scanner.glance(at: saved)) }
        while true {
            openFolders.removeAll(keepingCapacity: true)
            // Before a look can take what is in staging for deleted.
            if isStagingUnclear { try recover() }
            let isQuiet = !isUnquiet() || hasWaited
            try scan(scope, confirmsDeletions: isQuiet)
            try noteOwnRules()
            scope = .folders([])
            let progress = try await act(isQuiet)
            if !transfers.isEmpty { try noteWaiting() }
            try throwTransferFailure()
            outcome.pausedUntil = try pausedUntil()
            if outcome.pausedUntil != nil { break }
            if progress.done > 0 { (idle, failures) = (0, 0) } else { idle += 1 }
            if let error = progress.failure {
                failures += 1
                // An answer that breaks the protocol may be another's; a second one is not.
                if failures > (error.code == .protocolViolation ? 1 : 3) { throw error }
                let pause = error.retryAfter.map { Duration.seconds(min($0, 30)) } ?? .milliseconds(50 << failures)
                try await surroundings.sleep(pause)
                continue
            }
            if progress.done == 0, suspects.isEmpty, !isFeedStale || idle > 3 {
                if !waitsForTransfers || transfers.isEmpty { break }
                await waitForTransfer()
                try Task.checkCancellation()
                continue
            }
            if idle > 8 { break }
        }
        return try finish(&outcome)
    }

    /// One look at the server and one round.
    private func act(_ isQuiet: Bool) async throws -> Progress {
        if isFeedStale {
            do throws(RemoteError) {
                try await pulled()
            } catch {
                // What changed while it was read is right the next time; what stays wrong is no agreement.
                if error.code == .cancelled || error.code == .unauthorized { throw error }
                return Progress(failure: error)
            }
            // Nothing is done by a tree that may lack a part of what the server told.
            try throwTransferFailure()
        }
        try checkRoot()
        let before = transferred
        var progress = try await round(sparing: !isQuiet)
        progress.done += transferred - before
        arrivals.clear()
        return progress
    }

    /// Ends the cycle for what was found while something else went on; the next one starts without it.
    private func throwTransferFailure() throws {
        guard let error = transferFailure else { return }
        transferFailure = nil
        throw error
    }

    private func pulled() async throws(RemoteError) {
        do {
            try await pull()
        } catch let error as RemoteError {
            throw error
        } catch {
            transferFailure = transferFailure ?? error
        }
    }

    /// Looks at the disk.
    ///
    /// Only a look at everything tells that what has vanished was not moved.
    private func scan(_ scope: ScanScope, confirmsDeletions: Bool) throws {
        let scope = confirmsDeletions && hasUnconfirmed ? .everything : scope.adding(suspects)
        if scope.isEmpty { return }
        suspects = []
        let report = try scanner.scan(scope, confirmsDeletions: confirmsDeletions && scope == .everything)
        restless.formUnion(report.restless)
        if scope == .everything { hasUnconfirmed = false }
        if scope == .everything { unconfirmed = [] }
        if report.vanished.isEmpty { return }
        unconfirmed.formUnion(report.vanished)
        hasUnconfirmed = true
        if confirmsDeletions, scope != .everything { try scan(.everything, confirmsDeletions: true) }
    }

    /// Whether deletions have been put off for long enough, though the disk is still changing.
    private var hasWaited: Bool {
        sparedSince.map { surroundings.uptime() - $0 >= .seconds(2) } ?? false
    }

    private func finish(_ outcome: inout CycleOutcome) throws -> CycleOutcome {
        try leaveFolders()
        try emptyOldTrash()
        try reviewFindings()
        outcome.hasSpared = hasSpared || hasUnconfirmed
        sparedSince = outcome.hasSpared ? sparedSince ?? surroundings.uptime() : nil
        outcome.restless = restless
        outcome.held = heldCount
        try forgetSettledPostponements()
        outcome.nextLook = busy.values.map(\.until).min()
        outcome.isScheduled = !scheduled.isEmpty
        let problems = try store.problems()
        for problem in problems {
            tally.noteOnce(SyncEvent(.problem, path: problem.path, message: problem.message))
        }
        try forgetSolvedProblems(problems)
        try noteWaiting()
        let isDone = problems.isEmpty && busy.isEmpty && transfers.isEmpty && scheduled.isEmpty
        if isDone, outcome.held == 0, heldRules == nil, outcome.pausedUntil == nil {
            try store.setMeta(.lastSync, "\(seconds)")
        }
        return outcome
    }

    /// What is settled, or gone, is not tried again.
    private func forgetSettledPostponements() throws {
        for id in busy.keys.sorted() where try store.item(id)?.isSettled ?? true {
            busy[id] = nil
            refusals[id] = nil
        }
    }

    /// Problems of items that are settled now, or gone, are none any more.
    private func forgetSolvedProblems(_ problems: [Problem]) throws {
        for problem in problems where !problem.isFromScan {
            guard let id = problem.item else { continue }
            if try store.item(id)?.isSettled ?? true { try store.setProblem(nil, path: problem.path) }
        }
    }

    /// Until when syncing is paused; nil when it is not.
    func pausedUntil() throws -> Int64? {
        guard let text = try store.meta(.pausedUntil) else { return nil }
        if text == "forever" { return .max }
        guard let until = Int64(text), until > seconds else {
            try store.setMeta(.pausedUntil, nil)
            return nil
        }
        return until
    }
}

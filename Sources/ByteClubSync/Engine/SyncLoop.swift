import ByteClubCore

/// When a session's run ends.
enum SyncGoal: Hashable, Sendable {
    /// When both sides agree, or only items are left that must wait.
    ///
    /// Items that waiting may help are first retried `retries` times; large transfers are waited for or left running.
    case agreement(retries: Int, waitsForTransfers: Bool = true)
    /// When it is cancelled, or a failure needs a person's intervention.
    case never
}

/// Decides what a session does next: it receives events and reports, and returns the next step.
///
/// It has no clock, does no I/O and knows no store; the session performs the steps. An event or step that is impossible
/// in a state is a precondition failure that names both.
struct SyncLoop: ~Copyable {
    // The owners of the decisions; each is a pure value.
    private var rescans = RescanQueue()
    private var periodicScans: PeriodicScans
    private var retries = RetryTable()
    private var transfers = TransferBoard()
    private var deferral = DeletionDeferral()
    private var backoff = SessionBackoff()
    private var background: Background
    // The state of the run.
    private var goal = SyncGoal.agreement(retries: 0)
    private var state = State.idle
    private var entry = Entry()
    private var feed = FeedState.stale
    private var turn = Turn.scan
    private var agenda = Agenda(at: SyncInstant(sinceStart: .zero))

    init(_ configuration: SyncConfiguration) {
        periodicScans = PeriodicScans(every: configuration.rescanInterval)
        background = Background(audits: AuditSchedule(isOn: configuration.auditPeriod > .zero))
    }

    // MARK: Events

    /// Starts a run towards a goal, with a full scan and a pull of the feed.
    mutating func begin(_ goal: SyncGoal, at now: SyncInstant) {
        self.goal = goal
        state = .active
        (feed, turn) = (.stale, .scan)
        (agenda, backoff) = (Agenda(at: now), SessionBackoff())
        entry.checkSettings()
        transfers.dropStarts()
        deferral.isOpen = true
        rescans.addEverything(at: now)
    }

    /// Handles an event.
    mutating func receive(_ event: SessionEvent, at now: SyncInstant) {
        switch event {
        case .disk(let change):
            rescans.add(change, at: now)
            if change.isNudge {
                entry.checkSettings()
                agenda.addAll()
                deferral.isOpen = true
                backoff.endEarly()
            }
            // Unfinished changes wait until the disk has settled, and cause no work before.
            if change.isOnlyBegun { return }
        case .polled(let result): receive(result, at: now)
        case .transferEnded(let item, let result): if !transfers.end(item, result) { return }
        case .transferProgressed(let item, let progress):
            transfers.note(item, bytes: progress.completed)
            return
        case .audited(let file):
            background.audits.ended(file)
            agenda.needsConclusion = true
        case .network:
            // The check begins or ends the pause.
            entry.checkRoot()
            backoff.endEarly()
        }
        wake(at: now)
    }

    /// Leaves an idle state, since there may be work to do.
    private mutating func wake(at now: SyncInstant) {
        if !state.wake() { return }
        entry.checkRoot()
        backoff.woke()
        agenda.busySince = now
    }

    private mutating func receive(_ result: PollResult, at now: SyncInstant) {
        switch result {
        case .page(let changes, let cursor): background.polls.answered((changes, cursor))
        case .changed:
            background.polls.answered()
            feed = .stale
        case .failed: return background.polls.failed(at: now)
        }
        backoff.endEarly()
    }

    /// Sets how long the mirror is paused from now on; nil when it is not.
    mutating func setPause(_ rest: Duration?, at now: SyncInstant) {
        if !state.isRunning { preconditionFailure("a pause cannot be set in a loop that is \(state)") }
        if let rest {
            // A check each ten seconds notices a changed clock, and a resume without a notification.
            state = .paused(until: now + min(max(rest, .seconds(1)), .seconds(10)))
        } else if state.pausedUntil != nil {
            state = .active
            feed = .stale
            agenda.addAll()
            rescans.addEverything(at: now)
        }
    }

    /// Notes that the long poll under way was cancelled; another one is started when a pause is over.
    mutating func pollCancelled() { background.polls.cancelled() }

    /// Notes that the exclusion rules have changed.
    mutating func rulesChanged(at now: SyncInstant) { rescans.addEverything(at: now) }

    /// Notes that a check has left deletions to restore; the check after the next conclusion continues.
    mutating func restoreMore() { entry.restores = true }

    /// Retries files that were being written.
    mutating func attend(_ items: [ItemID]) {
        if retries.attend(items) { agenda.needsRound = true }
    }

    /// Forgets the retries of items for which a test holds, because they are settled or deleted.
    mutating func forgetRetries(where isOver: (ItemID) throws -> Bool) rethrows { try retries.forget(where: isOver) }

    /// Notes that an admitted large file was not started.
    mutating func notStarted(_ item: ItemID) { transfers.forget(item) }

    /// Sets when the next files are read for the audit.
    mutating func setAudit(at time: SyncInstant) { background.audits = .scheduled(at: time) }

    /// Sets when displaced files are checked next for late writes; nil when there are none.
    mutating func setLateCheck(at time: SyncInstant?) { background.lateCheckAt = time }

    /// Notes whether all folders are watched.
    mutating func setWatched(_ isWatched: Bool, at now: SyncInstant) {
        periodicScans.setWatched(isWatched, &rescans, at: now)
    }

    // MARK: Reports

    /// Handles the report of a completed step; `slots` is how many transfers may run now, until `paceEnds`.
    ///
    /// - Returns: The problems to report, each with how long the item waits.
    mutating func did(
        _ step: Step, _ report: SyncReport, slots: Int, paceEnds: SyncInstant? = nil, at now: SyncInstant
    ) throws(RemoteError) -> [(result: SyncReport.Outcome, delay: Duration)] {
        let problems = note(report, at: now)
        if slots > 0, !transfers.scheduled.isEmpty { agenda.needsRound = true }
        transfers.request(report.transfers, slots: slots, until: paceEnds)
        // After a pull, a round plans all.
        if case .pull = step {} else { agenda.ready.formUnion(report.ready) }
        try advance(step, report, at: now)
        return problems
    }

    /// Handles a step's report, whether the step succeeded or failed.
    ///
    /// - Returns: The problems to report, each with how long the item waits.
    mutating func note(_ report: SyncReport, at now: SyncInstant) -> [(result: SyncReport.Outcome, delay: Duration)] {
        var problems: [(result: SyncReport.Outcome, delay: Duration)] = []
        if retries.reported(report.reported) { agenda.addAll() }
        for result in report.results {
            if let delay = retries.note(result.outcome, of: result.item, at: now) {
                problems.append((result, delay))
            } else if case .refused = result.outcome {
                // It may succeed at once, and is a problem when it does not.
                agenda.needsRound = true
            }
        }
        rescans.again(report.rescans.union(report.newFolders), at: now)
        if let verdict = report.verdict { deferral.note(verdict) }
        if report.needsRecovery { entry.recover() }
        if report.isFeedStale, feed == .current { feed = .stale }
        return problems
    }

    private mutating func advance(
        _ step: Step, _ report: SyncReport, at now: SyncInstant
    ) throws(RemoteError) {
        // A scan's findings are planned for that reason; other work has failed.
        if case .scan = step {} else { rescans.awaitScan(of: report.rescans) }
        switch step {
        case .recover, .check, .judge, .wait: break
        case .ingest where !report.needsRound && !report.isFeedStale && report.results.isEmpty:
            if report.hasChanges { agenda.needsConclusion = true }
        case .finish where !report.ready.isEmpty: agenda.needsConclusion = true
        case .finish, .ingest, .start, .installInline:
            agenda.addAll()
            if report.done > 0 { backoff.progressed() }
        case .scan(let request):
            turn = .plan
            if rescans.endAwaited(request) { agenda.needsRound = true }
            if case .everything = request { agenda.needsConclusion = true }
        case .settle:
            agenda.needsConclusion = true
            if report.done > 0 { backoff.progressed() }
            // Operations without effect, and decisions that depend on other items, are left to a round.
            if report.hasChanges || !report.deletions.isEmpty || report.done == 0 && report.transfers.isEmpty {
                agenda.needsRound = true
            }
        case .pull:
            agenda.addAll()
            // Otherwise a server that revokes its changes at the end of each pull would cause an endless loop.
            if report.failure == nil {
                if feed == .stale { backoff.roundWasIdle() }
                return
            }
        case .sync, .delete:
            agenda.needsConclusion = true
            advanceRound(step, report)
        case .conclude: concluded(at: now)
        case .poll: background.polls.started()
        case .audit: background.audits.started()
        case .end: preconditionFailure("nothing is done in a loop that is \(state)")
        }
        if let error = report.failure { try fail(error, at: now) }
    }

    private mutating func advanceRound(_ step: Step, _ report: SyncReport) {
        // A pause ends a round.
        if state.pausedUntil != nil { return }
        guard var round = state.endRound() else {
            preconditionFailure("a slice cannot end in a loop that is \(state)")
        }
        round.done += report.done
        round.deletions += report.deletions
        var goesOn = false
        if case .sync = step { goesOn = report.last != .root || !round.deletions.isEmpty || deferral.isOpen }
        if goesOn, report.failure == nil {
            round.last = report.last
            state = .round(round)
        } else if round.done > 0 {
            // Events received meanwhile may require another round, whatever this one did.
            backoff.progressed()
            agenda.needsRound = true
        } else if !goesOn {
            backoff.roundWasIdle()
        }
    }

    private mutating func concluded(at now: SyncInstant) {
        // A conclusion in the middle of work ends no deferral.
        if deferral.isDeferring || isMissingDue(at: now) || !isWorkLeft(at: now) {
            deferral.update(isMissing: isMissingDue(at: now), at: now)
        }
        // In the middle of work, a write that always fails may be due again.
        if !isWorkLeft(at: now) { backoff.succeeded() }
        (agenda.needsConclusion, agenda.busySince) = (entry.restores, now)
        if entry.restores { entry.checkRoot() }
        state.conclude()
    }

    /// Whether items are missing, and only the scan that confirms it is outstanding.
    private func isMissingDue(at now: SyncInstant) -> Bool { rescans.missingDeadline.map { $0 <= now } ?? false }

    /// Handles the result of a pull.
    mutating func pulled(_ result: FeedState) {
        if feed == .current { preconditionFailure("a pull cannot end while the feed is current") }
        feed = result
    }

    /// Notes that the inline contents of a part of the feed are installed, or being installed.
    mutating func installedInline() {
        guard feed == .partial(inline: true) else { preconditionFailure("no install while the feed is \(feed)") }
        feed = .partial(inline: false)
    }

    /// Notes that a scan begins: a change after this needs another scan.
    ///
    /// - Returns: The folders that are only scanned again because they were racy, and the folders that the user has
    ///   changed.
    mutating func beginScan(_ request: ScanRequest, at now: SyncInstant) -> (again: Set<ItemID>, changed: Set<ItemID>) {
        rescans.begin(request, at: now)
    }

    /// Handles a scan's report; `lasting` is the scan's duration.
    mutating func scanned(
        _ request: ScanRequest, _ found: ScanReport, again: Set<ItemID>, unwatched: Set<ItemID>, lasting: Duration,
        at now: SyncInstant
    ) {
        let missing = rescans.missing
        rescans.end(request, vanished: found.vanished, at: now)
        if found.hasChanges || rescans.missing != missing { agenda.addAll() }
        // A conclusion ends the deferral; the deletions are judged before it.
        if isMissingDue(at: now) { deferral.update(isMissing: true, at: now) }
        periodicScans.note(request, unwatched: unwatched, lasting: lasting)
        if goal == .never {
            let later = now + FileFingerprint.racyWindow + .milliseconds(100)
            rescans.addRacy(found.racyFolders.subtracting(again), at: later)
            rescans.addRacy(found.racyFiles, at: later)
        }
    }

    /// - Throws: The error when there were too many.
    private mutating func fail(_ error: RemoteError, at now: SyncInstant) throws(RemoteError) {
        agenda.needsRound = true
        if feed != .current { feed = .stale }
        try backoff.callFailed(error, at: now)
    }

    /// Handles a step's failure.
    ///
    /// - Returns: When it is tried again.
    /// - Throws: The error when only a person can mend it, or when the run has an end.
    mutating func failed(
        _ step: Step, _ error: SyncError, at now: SyncInstant
    ) throws(SyncError) -> Duration {
        entry.recover()
        transfers.dropStarts()
        let delay: Duration
        do throws(SyncError) {
            guard goal == .never else { throw error }
            delay = try backoff.sessionFailed(error, at: now)
        } catch {
            state = .ended
            throw error
        }
        state = .active
        feed = .stale
        entry.checkSettings()
        agenda.needsRound = true
        switch step {
        case .scan(let request): rescans.putBack(request, at: now)
        case .start, .finish: rescans.addEverything(at: now)
        default: break
        }
        return delay
    }

    // MARK: Queries

    /// Whether the session must set the time of the next audit step.
    var needsAuditTime: Bool { goal == .never && background.audits.needsTime }

    /// Large files that are under way.
    var travelling: Set<ItemID> { transfers.items }

    /// Items that are not planned now: large files that are under way, and items that wait for a retry.
    func busy(at now: SyncInstant) -> Set<ItemID> { transfers.items.union(retries.waiting(at: now)) }

    /// Files that are being written.
    var beingWritten: [ItemID] { retries.beingWritten.keys.sorted() }

    /// Items about which nothing is decided, since they may turn up elsewhere.
    var unconfirmed: Set<ItemID> { rescans.missing }

    /// The items that wait or travel without a problem.
    var backlog: Backlog {
        let retried = retries.waiting
        return Backlog(
            travelling: transfers.bytesTransferred, queued: transfers.queued, scheduled: transfers.scheduled,
            beingWritten: retries.beingWritten, retried: retried,
            isEmpty: retried.isEmpty && transfers.isEmpty && transfers.scheduled.isEmpty)
    }

    /// Whether the disk changed within the debounce interval: more changes are likely, no deletion is confirmed.
    func isSettling(at now: SyncInstant) -> Bool { rescans.isUnsettled(at: now) && !deferral.hasWaited(at: now) }

    /// Whether something is known that no scan or plan has seen yet, or that is deferred.
    func isWorkLeft(at now: SyncInstant) -> Bool {
        agenda.needsRound || !agenda.ready.isEmpty || state.isInRound || entry.restores || feed != .current
            || background.polls.hasPage || deferral.isDeferring || rescans.next(at: now, isSettling: false) != nil
    }

    // MARK: The next step

    /// The next step.
    mutating func next(at now: SyncInstant) -> Step {
        if !state.isRunning { preconditionFailure("a loop that is \(state) has no next step") }
        if let end = backoff.end(at: now) { return .wait(until: end) }
        if let until = state.pausedUntil, until <= now { entry.checkRoot() }
        if let deadline = state.concludedUntil, deadline <= now {
            wake(at: now)
            if deferral.isDeferring { agenda.needsRound = true }
        }
        if let step = entry.next(inPause: state.pausedUntil != nil) { return step }
        // While a part of the feed is unread, the server's answers cannot be checked against the tree.
        if !feed.isPartial, let (item, result) = transfers.takeResult() { return .finish(item, result) }
        if let until = state.pausedUntil { return goal == .never ? .wait(until: until) : finish() }
        if let step = nextArrival() { return step }
        if goal == .never, feed == .current {
            if background.polls.takePull(at: now) { feed = .stale } else if background.polls.isDue { return .poll }
        }
        if !backoff.isIdle, let step = nextWork(at: now) { return step }
        if agenda.needsConclusion { return .conclude }
        state.conclude()
        if goal == .never { return nextWhenIdle(at: now) }
        return nextInAgreement(at: now)
    }

    /// The step that handles a received event.
    private mutating func nextArrival() -> Step? {
        if let file = background.audits.takeFile() { return .judge(file) }
        if let (changes, cursor) = background.polls.takePage() { return .ingest(changes, after: cursor) }
        return transfers.takeStarts().map { .start($0) }
    }

    /// The step towards agreement of both sides.
    private mutating func nextWork(at now: SyncInstant) -> Step? {
        // A round is not interrupted.
        if goal == .never, feed == .current, !state.isInRound, agenda.isConclusionLate(at: now) { return .conclude }
        if case .plan = turn, let step = nextExchange(at: now) {
            turn = .scan
            return step
        }
        // Inline contents of a partly read feed are being installed, and no scan may find them half done.
        if !feed.isPartial, let request = rescans.next(at: now, isSettling: isSettling(at: now)) {
            return .scan(request)
        }
        turn = .scan
        return nextExchange(at: now)
    }

    /// The step that syncs the two sides.
    private mutating func nextExchange(at now: SyncInstant) -> Step? {
        switch feed {
        case .stale, .partial(inline: false):
            abandonRound()
            return .pull
        case .partial(inline: true): return .installInline
        case .current: break
        }
        if let next = retries.next, next <= now { agenda.needsRound = true }
        if let item = transfers.nextWaiting() { agenda.ready.insert(item) }
        if agenda.hasReady(), state.takeTurnAlone(needsRound: agenda.needsRound) { return .settle(agenda.takeReady()) }
        if let step = state.takeSlice() { return step }
        if !agenda.takeRound() { return nil }
        retries.release(at: now)
        transfers.forgetWaiting()
        state = .round(Round())
        return .sync(after: nil)
    }

    /// Restarts a round whose trees change in the middle; its operations so far stay done.
    private mutating func abandonRound() {
        guard let round = state.endRound() else { return }
        agenda.needsRound = true
        if round.done > 0 { backoff.progressed() } else { backoff.roundWasIdle() }
    }

    /// The next step of a continuous session when nothing is left to do.
    private mutating func nextWhenIdle(at now: SyncInstant) -> Step {
        periodicScans.plan(&rescans, at: now)
        backoff.atRest()
        if backoff.isIdle, feed != .current || rescans.next(at: now, isSettling: false) != nil {
            // Operations that never take effect are retried later.
            backoff.waitAfterIdleRounds(at: now)
            agenda.needsRound = true
            state = .active
            return .wait(until: backoff.end(at: now))
        }
        let isSettling = isSettling(at: now)
        if !isSettling, background.audits.takeStart(at: now) { return .audit }
        state.conclude(until: deadline(isSettling, at: now))
        return .wait(until: state.concludedUntil)
    }

    private func deadline(_ isSettling: Bool, at now: SyncInstant) -> SyncInstant? {
        var settled: SyncInstant?
        if deferral.isDeferring || isSettling {
            settled = rescans.settled.map { max($0, now) + .milliseconds(10) }
        }
        let deadlines = [
            rescans.deadline, isSettling ? nil : rescans.missingDeadline, retries.next, settled, transfers.deadline,
            background.deadline(isSettling: isSettling),
        ]
        return deadlines.compactMap(\.self).min().map { max($0, now + .milliseconds(1)) }
    }

    /// The next step of a sync with an end when nothing is left to do now.
    private mutating func nextInAgreement(at now: SyncInstant) -> Step {
        guard case .agreement(let retriesLeft, let waitsForTransfers) = goal else {
            preconditionFailure("a loop without end cannot be in agreement")
        }
        if waitsForTransfers, !transfers.isEmpty { return .wait(until: transfers.deadline) }
        if !backoff.isIdle, let missing = rescans.missingDeadline, missing - now < .seconds(1) {
            state = .concluded(until: missing)
            return .wait(until: missing)
        }
        if retriesLeft > 0, let next = retries.nextWorthWaiting {
            goal = .agreement(retries: retriesLeft - 1, waitsForTransfers: waitsForTransfers)
            state = .concluded(until: next)
            return .wait(until: next)
        }
        return finish()
    }

    private mutating func finish() -> Step {
        state = .ended
        return .end
    }
}

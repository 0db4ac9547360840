import ByteClubCore

/// When a session's run ends.
enum SyncGoal: Hashable, Sendable {
    /// When both sides agree, or only items are left that must wait. Those that waiting may help are first retried
    /// `retries` times;
    /// large transfers are waited for or left running.
    case agreement(retries: Int, waitsForTransfers: Bool = true)
    /// When it is cancelled, or a failure needs a person's intervention.
    case never
}

/// Decides what a session does next: it receives events and reports, and returns the next step.
///
/// It has no clock, does no I/O and knows no store; the session performs the steps. An event or step that is impossible
/// in a state is a precondition failure that names both.
struct SyncLoop: ~Copyable {
    /// How long the disk must be unchanged before it counts as settled (debounce).
    static let debounce = Duration.milliseconds(200)
    /// After how many rounds without effect the loop waits before it tries again.
    private static let mostIdleRounds = 6
    /// How many items are planned by themselves; more are left to a round, which goes in slices.
    private static let mostReady = 1_024
    /// How long work that never ends may put off a conclusion.
    private static let conclusionDelay = Duration.seconds(1)

    // The owners of the decisions; each is a pure value.
    var rescans = RescanQueue()
    var retries = RetryTable()
    var deletions: DeletionGuard
    var transfers = TransferBoard()
    private var periodicScans: PeriodicScans
    private var backoff = SessionBackoff()

    private let audits: Bool
    private var goal = SyncGoal.agreement(retries: 0)
    private var state = State.idle
    private var feed = Feed.stale
    private var needsRecovery = true
    private var needsReload = true
    private var needsCheck = true
    private var needsRound = true
    // Events that are received and not handled yet.
    private var pages: [(changes: SyncChanges, after: String)] = []
    private var results: [(item: ItemID, result: TransferResult)] = []
    private var audited: [AuditedFile] = []
    private var starts: [TransferRequest] = []
    /// Items that can be planned by themselves, without a round.
    private var ready: Set<ItemID> = []
    // Turns.
    /// Whether the last work was a scan: then its findings are planned first.
    private var hasScanned = false
    /// Folders in which work has found the disk other than the tree: what it left undone is planned again after a scan.
    private var awaited: Set<ItemID> = []
    /// Whether the last work of a round was a plan of items alone: then a slice is next.
    private var hasSettled = false
    /// Whether anything has happened since the last conclusion that needs another one.
    private var needsConclusion = true
    /// Whether more is to be brought back from the server's history, which the check after a conclusion goes on with.
    var isUndeleting = false
    /// Since when a conclusion is put off by work.
    private var busySince: SyncInstant
    private var idleRounds = 0
    // Background work.
    private var polls = PollSchedule()
    private var isAuditing = false
    private var auditAt: SyncInstant?
    private var pausedUntil: SyncInstant?
    private var retriesLeft = 0
    private var lastDiskChange: SyncInstant?
    /// Until when it waits at most when nothing is left to do.
    private var waitsUntil: SyncInstant?
    /// When large files may be transferred at another pace than now; nil when that stays.
    private var paceEnds: SyncInstant?
    /// When displaced files are checked next for late writes, which each check does.
    var lateCheckAt: SyncInstant?

    init(_ configuration: SyncConfiguration) {
        busySince = SyncInstant(sinceStart: .zero)
        deletions = DeletionGuard(configuration.deleteGuard, approvesAll: configuration.approvesDeletions)
        periodicScans = PeriodicScans(every: configuration.rescanInterval)
        audits = configuration.auditPeriod > .zero
    }

    // MARK: Events and reports

    /// Starts a run towards a goal, with a full scan and a pull of the feed.
    mutating func begin(_ goal: SyncGoal, at now: SyncInstant) {
        self.goal = goal
        state = .active
        dropStarts()
        feed = .stale
        (needsCheck, needsReload, needsRound, needsConclusion) = (true, true, true, true)
        deletions.reopen()
        (idleRounds, backoff, pausedUntil) = (0, SessionBackoff(), nil)
        (waitsUntil, ready, hasScanned, busySince) = (nil, [], false, now)
        if case .agreement(let retries, _) = goal { retriesLeft = retries }
        rescans.addEverything(at: now)
    }

    /// Handles an event.
    mutating func receive(_ event: SessionEvent, at now: SyncInstant) {
        switch event {
        case .disk(let change):
            receive(change, at: now)
            // Unfinished changes wait until the disk has settled, and cause no work before.
            if change.isOnlyBegun { return }
        case .polled(let result): receive(result, at: now)
        case .transferEnded(let item, let result):
            guard transfers.contains(item) else { return }
            results.append((item, result))
        case .transferProgressed(let item, let progress):
            transfers.note(item, bytes: progress.completed)
            return
        case .audited(let file):
            (isAuditing, needsConclusion) = (false, true)
            if let file { audited.append(file) }
        }
        wake(at: now)
    }

    private mutating func receive(_ change: DiskChange, at now: SyncInstant) {
        if change.isLost { rescans.addEverything(at: now) }
        rescans.add(change.closed)
        rescans.add(change.finished, at: now)
        rescans.add(change.begun, at: now + Self.debounce)
        // New rules are read by a check; the scan makes sure that one follows, also when this comes during a step.
        if change.isLost || change.closed[.root]?.contains(EntryName(IgnoreRules.fileName)) ?? false {
            rescans.add([.root], at: now + Self.debounce)
        }
        if change.isLost || !change.finished.isEmpty || !change.begun.isEmpty { lastDiskChange = now }
        if change.isNudge {
            (needsCheck, needsReload, needsRound, needsConclusion) = (true, true, true, true)
            deletions.reopen()
            backoff.endEarly()
        }
    }

    private mutating func receive(_ result: PollResult, at now: SyncInstant) {
        switch result {
        case .page(let changes, let cursor): pages.append((changes, cursor))
        case .changed: feed = .stale
        case .failed: return polls.failed(at: now)
        }
        polls.answered()
        backoff.endEarly()
    }

    /// Leaves an idle state, since there may be work to do.
    private mutating func wake(at now: SyncInstant) {
        switch state {
        case .idle, .concluded:
            state = .active
            (idleRounds, needsCheck, waitsUntil, busySince) = (0, true, nil, now)
        case .active, .round, .paused: break
        case .ended: preconditionFailure("an event cannot wake a loop that is \(state.name)")
        }
    }

    /// Sets how long the mirror is paused from now on; nil when it is not.
    mutating func setPause(_ rest: Duration?, at now: SyncInstant) {
        switch (rest, state) {
        case (_, .ended), (_, .idle): preconditionFailure("a pause cannot be set in a loop that is \(state.name)")
        case (let rest?, _):
            // So a changed clock, or a resume without a notification, is noticed in time.
            pausedUntil = now + min(max(rest, .seconds(1)), .seconds(10))
            state = .paused
            // What changes meanwhile is read when it is over.
            needsReload = true
        case (nil, .paused):
            pausedUntil = nil
            state = .active
            feed = .stale
            (needsRound, needsConclusion) = (true, true)
            rescans.addEverything(at: now)
        case (nil, _): pausedUntil = nil
        }
    }

    /// Notes that the exclusion rules have changed.
    mutating func rulesChanged(at now: SyncInstant) { rescans.addEverything(at: now) }

    /// Retries files that were being written.
    mutating func attend(_ items: [ItemID]) {
        if retries.attend(items) { needsRound = true }
    }

    /// Whether the session must set the time of the next audit step.
    var needsAuditTime: Bool { goal == .never && audits && !isAuditing && auditAt == nil }

    /// Sets when the next files are read for the audit.
    mutating func setAudit(at time: SyncInstant) { auditAt = time }

    /// Notes whether all folders are watched.
    mutating func setWatched(_ isWatched: Bool, at now: SyncInstant) {
        periodicScans.setWatched(isWatched, &rescans, at: now)
    }

    /// Handles the report of a completed step; `slots` is how many transfers may run now, until `paceEnds`.
    ///
    /// - Returns: The problems to report, each with how long the item waits.
    mutating func did(
        _ step: Step, _ report: SyncReport, slots: Int, paceEnds: SyncInstant? = nil, at now: SyncInstant
    ) throws(RemoteError) -> [(result: SyncReport.Outcome, delay: Duration)] {
        let problems = note(report, at: now)
        self.paceEnds = paceEnds
        if slots > 0, !transfers.scheduled.isEmpty { needsRound = true }
        for request in report.transfers where transfers.admit(request, slots: slots) { starts.append(request) }
        // After a pull, a round plans all.
        if case .pull = step {} else { ready.formUnion(report.ready) }
        try advance(step, report, at: now)
        return problems
    }

    /// Handles a step's report, whether the step succeeded or failed.
    ///
    /// - Returns: The problems to report, each with how long the item waits.
    mutating func note(_ report: SyncReport, at now: SyncInstant) -> [(result: SyncReport.Outcome, delay: Duration)] {
        var problems: [(result: SyncReport.Outcome, delay: Duration)] = []
        for result in report.results {
            if let delay = retries.note(result.outcome, of: result.item, at: now) {
                problems.append((result, delay))
            } else if case .refused = result.outcome {
                // It may succeed at once, and is a problem when it does not.
                needsRound = true
            }
        }
        rescans.again(report.rescans.union(report.newFolders), at: now)
        deletions.count(report.deleted, at: now)
        if report.needsRecovery { needsRecovery = true }
        if report.isFeedStale, feed == .current { feed = .stale }
        return problems
    }

    private mutating func advance(
        _ step: Step, _ report: SyncReport, at now: SyncInstant
    ) throws(RemoteError) {
        // What a scan finds is planned for that reason; other work has failed.
        if !step.isScan { awaited.formUnion(report.rescans) }
        switch step {
        case .recover: needsRecovery = report.needsRecovery
        case .check: needsCheck = false
        case .ingest where !report.needsRound && !report.isFeedStale && report.results.isEmpty:
            if report.hasChanges { needsConclusion = true }
        case .finish where !report.ready.isEmpty: needsConclusion = true
        case .judge: break
        case .finish, .ingest, .start, .installInline:
            (needsRound, needsConclusion) = (true, true)
            if report.done > 0 { progressed() }
        case .scan(let request):
            hasScanned = true
            switch request {
            case .files: break
            case .folders(let scanned):
                if !awaited.isDisjoint(with: scanned) { needsRound = true }
                awaited.subtract(scanned)
            case .everything: (awaited, needsRound, needsConclusion) = ([], true, true)
            }
        case .settle:
            needsConclusion = true
            if report.done > 0 { progressed() }
            // Operations without effect, and decisions that depend on other items, are left to a round.
            if report.hasChanges || !report.deletions.isEmpty || report.done == 0 && report.transfers.isEmpty {
                needsRound = true
            }
        case .pull:
            (needsRound, needsConclusion) = (true, true)
            // Otherwise a server that revokes its changes at the end of each pull would cause an endless loop.
            if report.failure == nil {
                if feed == .stale { idleRounds += 1 }
                return
            }
        case .sync, .delete:
            needsConclusion = true
            try advanceRound(step, report, at: now)
        case .conclude:
            // A conclusion in the middle of work ends no deferral.
            if deletions.isDeferring || isMissingDue(at: now) || !isWorkLeft(at: now) {
                deletions.noteDeferral(isMissing: isMissingDue(at: now), at: now)
            }
            // In the middle of work, a write that always fails may be due again.
            if !isWorkLeft(at: now) { backoff.succeeded() }
            (needsConclusion, busySince) = (isUndeleting, now)
            if isUndeleting { needsCheck = true }
            if state != .paused { state = .concluded }
        case .poll: polls.started()
        case .audit: isAuditing = true
        case .wait: break
        case .end: preconditionFailure("nothing is done in a loop that is \(state.name)")
        }
        if let error = report.failure { try fail(error, at: now) }
    }

    private mutating func advanceRound(
        _ step: Step, _ report: SyncReport, at now: SyncInstant
    ) throws(RemoteError) {
        // A pause ends a round.
        if state == .paused { return }
        guard case .round(_, let known, let before) = state else {
            preconditionFailure("a slice cannot end in a loop that is \(state.name)")
        }
        let done = before + report.done
        let planned = known + report.deletions
        if case .sync = step, report.last != .root || !planned.isEmpty || deletions.isOpen {
            state = .round(after: report.last, deletions: planned, done: done)
        } else {
            state = .active
            // Events received meanwhile may require another round, whatever this one did.
            if done > 0 {
                progressed()
                needsRound = true
            } else {
                idleRounds += 1
            }
        }
        if report.failure != nil {
            if done > 0 { progressed() }
            state = .active
            needsRound = true
        }
    }

    private mutating func progressed() {
        idleRounds = 0
        backoff.succeeded()
    }

    /// Whether items are missing, and only the scan that confirms it is outstanding.
    private func isMissingDue(at now: SyncInstant) -> Bool { rescans.missingDeadline.map { $0 <= now } ?? false }

    /// Handles the result of a pull.
    mutating func pulled(_ result: PullResult) {
        switch (feed, result) {
        case (.current, _): preconditionFailure("a pull cannot end while the feed is current")
        case (_, .more(let inline)): feed = .partial(inline: inline)
        case (_, .end): feed = .current
        }
    }

    /// Notes that the inline contents of a part of the feed are installed, or being installed.
    mutating func installedInline() {
        guard feed == .partial(inline: true) else { preconditionFailure("no install while the feed is \(feed)") }
        feed = .partial(inline: false)
    }

    /// Handles a scan's report; `lasting` is the scan's duration.
    mutating func scanned(
        _ request: ScanRequest, _ found: ScanReport, again: Set<ItemID>, unwatched: Set<ItemID>, lasting: Duration,
        at now: SyncInstant
    ) {
        let missing = rescans.missing
        rescans.end(request, vanished: found.vanished, at: now)
        if found.hasChanges || rescans.missing != missing { (needsRound, needsConclusion) = (true, true) }
        // A conclusion ends the deferral: the deletions are judged between.
        if isMissingDue(at: now) { deletions.noteDeferral(isMissing: true, at: now) }
        periodicScans.note(request, unwatched: unwatched, lasting: lasting)
        if goal == .never {
            let later = now + FileFingerprint.racyWindow + .milliseconds(100)
            rescans.addRacy(found.racyFolders.subtracting(again), at: later)
            rescans.addRacy(found.racyFiles, at: later)
        }
    }

    /// - Throws: The error when there were too many.
    private mutating func fail(_ error: RemoteError, at now: SyncInstant) throws(RemoteError) {
        needsRound = true
        if feed != .current { feed = .stale }
        try backoff.callFailed(error, at: now)
    }

    /// Handles a step's failure.
    ///
    /// - Returns: When it is tried again.
    /// - Throws: The error when only a person can mend it, or the goal is not to go on.
    mutating func failed(
        _ step: Step, _ error: SyncError, at now: SyncInstant
    ) throws(SyncError) -> Duration {
        needsRecovery = true
        dropStarts()
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
        (needsCheck, needsReload, needsRound) = (true, true, true)
        idleRounds = 0
        switch step {
        case .scan(let request): rescans.putBack(request, at: now)
        case .start, .finish: rescans.addEverything(at: now)
        default: break
        }
        return delay
    }

    /// Forgets large files that were to be started: the next plan asks for them again.
    private mutating func dropStarts() {
        for request in starts { _ = transfers.end(request.item) }
        starts = []
    }

    // MARK: The next step

    private var isInRound: Bool { if case .round = state { true } else { false } }

    private var isFeedPartial: Bool { if case .partial = feed { true } else { false } }

    /// Whether the feed is read to its end.
    private var isFeedRead: Bool { feed == .current && pages.isEmpty }

    /// Whether the disk changed within the debounce interval: more changes are likely, no deletion is confirmed.
    func isSettling(at now: SyncInstant) -> Bool {
        guard let lastDiskChange, now - lastDiskChange < Self.debounce else { return false }
        return !deletions.hasWaited(at: now)
    }

    /// The next step.
    mutating func next(at now: SyncInstant) -> Step {
        if state == .ended || state == .idle { preconditionFailure("a loop that is \(state.name) has no next step") }
        if let end = backoff.end(at: now) { return .wait(until: end) }
        if needsRecovery { return .recover }
        if let pausedUntil, pausedUntil <= now { (needsCheck, self.pausedUntil) = (true, nil) }
        if state == .concluded, let waitsUntil, waitsUntil <= now { goOn(at: now) }
        if needsCheck {
            let reloads = needsReload
            (needsCheck, needsReload) = (false, false)
            return .check(reloads: reloads)
        }
        if let step = nextArrival() { return step }
        if state == .paused { return goal == .never ? .wait(until: pausedUntil) : finish() }
        if goal == .never, feed == .current {
            if polls.takePull(at: now) { feed = .stale } else if polls.isDue { return .poll }
        }
        if idleRounds < Self.mostIdleRounds, let step = nextWork(at: now) { return step }
        if needsConclusion { return .conclude }
        state = .concluded
        if goal == .never { return nextWhenIdle(at: now) }
        return nextInAgreement(at: now)
    }

    /// A deadline has passed.
    private mutating func goOn(at now: SyncInstant) {
        (state, needsCheck, waitsUntil, idleRounds, busySince) = (.active, true, nil, 0, now)
        if deletions.isDeferring { needsRound = true }
    }

    /// The step that handles a received event.
    private mutating func nextArrival() -> Step? {
        // While a part of the feed is unread, answers cannot be checked against the tree.
        if !results.isEmpty, !isFeedPartial {
            let (item, result) = results.removeFirst()
            _ = transfers.end(item)
            return .finish(item, result)
        }
        if state == .paused { return nil }
        if !audited.isEmpty { return .judge(audited.removeFirst()) }
        if !pages.isEmpty {
            let (changes, cursor) = pages.removeFirst()
            return .ingest(changes, after: cursor)
        }
        if !starts.isEmpty {
            defer { starts = [] }
            return .start(starts)
        }
        return nil
    }

    /// The step towards agreement of both sides.
    private mutating func nextWork(at now: SyncInstant) -> Step? {
        if isConclusionDue(at: now) { return .conclude }
        // A scan's findings are planned first, so that a disk that never settles does not starve other work.
        if hasScanned, let step = nextExchange(at: now) {
            hasScanned = false
            return step
        }
        // Inline contents of a partly read feed are being installed, and no scan may find them half done.
        if !isFeedPartial, let request = rescans.next(at: now, isSettling: isSettling(at: now)) {
            return .scan(request)
        }
        hasScanned = false
        return nextExchange(at: now)
    }

    /// Whether work without end has put off a conclusion for too long; a round is not interrupted.
    private func isConclusionDue(at now: SyncInstant) -> Bool {
        guard goal == .never, needsConclusion, feed == .current, !isInRound else { return false }
        return now - busySince >= Self.conclusionDelay
    }

    /// Whether something is known that no scan or plan has seen yet, or that is deferred.
    func isWorkLeft(at now: SyncInstant) -> Bool {
        needsRound || !ready.isEmpty || isInRound || isUndeleting || !isFeedRead || deletions.isDeferring
            || rescans.next(at: now, isSettling: false) != nil
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
        if let next = retries.next, next <= now { needsRound = true }
        if let item = transfers.nextWaiting() { ready.insert(item) }
        if ready.count > Self.mostReady { (ready, needsRound) = ([], true) }
        // Items that are ready all the time do not keep a round from its end.
        if !ready.isEmpty, isInRound ? !hasSettled : !needsRound {
            defer { (ready, hasSettled) = ([], isInRound) }
            return .settle(ready)
        }
        hasSettled = false
        switch state {
        case .round(let last?, let deletions, _) where last == .root: return .delete(deletions)
        case .round(let last, _, _): return .sync(after: last)
        default: break
        }
        if !needsRound { return nil }
        (needsRound, ready) = (false, [])
        retries.release(at: now)
        transfers.forgetWaiting()
        state = .round(after: nil, deletions: [], done: 0)
        return .sync(after: nil)
    }

    /// Restarts a round whose trees change in the middle; what it has done stays done.
    private mutating func abandonRound() {
        guard case .round(_, _, let done) = state else { return }
        state = .active
        needsRound = true
        if done > 0 { progressed() } else { idleRounds += 1 }
    }

    /// The next step of a continuous session when nothing is left to do.
    private mutating func nextWhenIdle(at now: SyncInstant) -> Step {
        periodicScans.plan(&rescans, at: now)
        backoff.atRest()
        if idleRounds >= Self.mostIdleRounds, hasWork(at: now) {
            // Operations that never take effect are retried later.
            backoff.wait(afterIdleRounds: idleRounds, at: now)
            idleRounds = 0
            needsRound = true
            state = .active
            return .wait(until: backoff.end(at: now))
        }
        if audits, !isAuditing, let auditAt, auditAt <= now, !isSettling(at: now) {
            self.auditAt = nil
            return .audit
        }
        // An earlier deadline is not postponed by a later event.
        waitsUntil = [waitsUntil, deadline(at: now)].compactMap(\.self).min()
        return .wait(until: waitsUntil)
    }

    private func hasWork(at now: SyncInstant) -> Bool {
        feed != .current || rescans.next(at: now, isSettling: false) != nil
    }

    private mutating func deadline(at now: SyncInstant) -> SyncInstant? {
        let isSettling = isSettling(at: now)
        var settled: SyncInstant?
        if deletions.isDeferring || isSettling, let lastDiskChange {
            settled = max(lastDiskChange + Self.debounce, now) + .milliseconds(10)
        }
        let deadlines = [
            rescans.deadline, isSettling ? nil : rescans.missingDeadline, retries.next, settled,
            transfers.isPaced ? paceEnds : nil, polls.pullAt, lateCheckAt, isAuditing || isSettling ? nil : auditAt,
        ]
        return deadlines.compactMap(\.self).min().map { max($0, now + .milliseconds(1)) }
    }

    /// The next step of a one-off sync when nothing is left to do now.
    private mutating func nextInAgreement(at now: SyncInstant) -> Step {
        guard case .agreement(_, let waitsForTransfers) = goal else {
            preconditionFailure("a loop without end cannot be in agreement")
        }
        if waitsForTransfers, !transfers.isEmpty { return .wait(until: transfers.isPaced ? paceEnds : nil) }
        if idleRounds < Self.mostIdleRounds, let missing = rescans.missingDeadline, missing - now < .seconds(1) {
            waitsUntil = missing
            return .wait(until: missing)
        }
        if retriesLeft > 0, let next = retries.nextWorthWaiting {
            retriesLeft -= 1
            waitsUntil = next
            return .wait(until: next)
        }
        return finish()
    }

    private mutating func finish() -> Step {
        state = .ended
        return .end
    }
}

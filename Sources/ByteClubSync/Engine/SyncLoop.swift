import ByteClubCore

/// Until when a session goes on.
enum SyncGoal: Hashable, Sendable {
    /// Until both sides agree, or only what must wait is left. Files that wait are tried again so many times first, and
    /// large files may be waited for or left under way.
    case agreement(retries: Int, waitsForTransfers: Bool = true)
    /// Until it is cancelled, or something happens that only a person can mend.
    case never
}

/// Decides what a session does next: it is told events and reports, and asked for the next step.
///
/// It has no clock, does no IO and knows no store; the session performs the steps. What cannot happen in a state stops
/// the process, with the names of both.
struct SyncLoop: ~Copyable {
    /// Where the loop is.
    private enum State: Hashable {
        case idle
        /// Something has happened, and its consequences are being drawn.
        case active
        /// In the middle of a round: the last item that was planned, and the deletions that were wanted.
        case round(after: ItemID?, deletions: [ItemID], done: Int)
        /// All that could be done is done.
        case concluded
        case paused
        case ended

        var name: String {
            switch self {
            case .idle: "idle"
            case .active: "active"
            case .round: "round"
            case .concluded: "concluded"
            case .paused: "paused"
            case .ended: "ended"
            }
        }
    }

    /// How long the disk must not have changed before it counts as settled.
    static let debounce = Duration.milliseconds(200)
    /// After how many rounds without effect the loop waits before it tries again.
    private static let mostIdleRounds = 6
    /// How many transient failures in a row a run stands.
    private static let mostFailures = 3
    /// How often a schedule is looked at while large files wait for it.
    private static let scheduleInterval = Duration.seconds(60)

    // Owners of what is decided; each is pure.
    var rescans = RescanQueue()
    var retries = RetryTable()
    var deletions: DeletionGuard
    var transfers = TransferBoard()
    private var periodicScans: PeriodicScans

    private let audits: Bool
    private var goal = SyncGoal.agreement(retries: 0)
    private var state = State.idle
    private var feed = Feed.stale
    private var needsRecovery = true
    private var needsReload = true
    private var needsCheck = true
    private var needsRound = true
    // What has come and is not taken yet.
    private var pages: [(changes: SyncChanges, after: String)] = []
    private var results: [(item: ItemID, result: TransferResult)] = []
    private var audited: [AuditedFile] = []
    private var starts: [TransferRequest] = []
    /// Items that have become ready to be decided about, which needs no round.
    private var ready: Set<ItemID> = []
    // Turns.
    /// Whether the last work was a scan: then what it has found goes first.
    private var hasScanned = false
    /// Whether something has happened since the last conclusion that is worth one.
    private var needsConclusion = true
    // Failures.
    private var idleRounds = 0
    private var callFailures = 0
    private var sessionFailures = 0
    private var backoffUntil: SyncInstant?
    /// Whether the server has said itself when it is to be asked again.
    private var isBackoffAsked = false
    // Beside the rounds.
    private var isPolling = false
    private var pollFailures = 0
    private var pollAt: SyncInstant?
    private var isAuditing = false
    private var auditAt: SyncInstant?
    private var pausedUntil: SyncInstant?
    private var retriesLeft = 0
    private var lastDiskChange: SyncInstant?
    /// Until when it waits at most, all being done that could be.
    private var waitsUntil: SyncInstant?
    /// When it is looked whether large files may travel that wait for the schedule.
    private var scheduledAt: SyncInstant?

    init(_ configuration: SyncConfiguration) {
        deletions = DeletionGuard(configuration.deleteGuard, approvesAll: configuration.approvesDeletions)
        periodicScans = PeriodicScans(every: configuration.rescanInterval)
        audits = configuration.auditPeriod > .zero
    }

    // MARK: Told

    /// Begins to go for a goal: everything is scanned, and the feed is read.
    mutating func begin(_ goal: SyncGoal, at now: SyncInstant) {
        self.goal = goal
        state = .active
        dropStarts()
        feed = .stale
        (needsCheck, needsReload, needsRound, needsConclusion) = (true, true, true, true)
        (idleRounds, callFailures, sessionFailures, backoffUntil, pausedUntil) = (0, 0, 0, nil, nil)
        (waitsUntil, scheduledAt, ready, hasScanned) = (nil, nil, [], false)
        if case .agreement(let retries, _) = goal { retriesLeft = retries }
        rescans.addEverything(at: now)
    }

    /// Takes an event.
    mutating func receive(_ event: SessionEvent, at now: SyncInstant) {
        switch event {
        case .disk(let change):
            receive(change, at: now)
            // What has only begun waits until the disk has settled, and is no reason to do anything before.
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
        wake()
    }

    private mutating func receive(_ change: DiskChange, at now: SyncInstant) {
        if change.isLost { rescans.addEverything(at: now) }
        rescans.add(change.closed)
        rescans.add(change.finished, at: now)
        rescans.add(change.begun, at: now + Self.debounce)
        if change.isLost || !change.finished.isEmpty || !change.begun.isEmpty { lastDiskChange = now }
        if change.isNudge {
            (needsCheck, needsReload, needsRound, needsConclusion) = (true, true, true, true)
            endBackoff()
        }
    }

    private mutating func receive(_ result: PollResult, at now: SyncInstant) {
        isPolling = false
        switch result {
        case .page(let changes, let cursor):
            pollFailures = 0
            pages.append((changes, cursor))
            endBackoff()
        case .changed:
            pollFailures = 0
            feed = .stale
            endBackoff()
        case .failed:
            // A cursor that is refused, or a server that is away: a pull finds out.
            pollFailures += 1
            pollAt = now + Backoff.session.delay(after: pollFailures)
        }
    }

    private mutating func endBackoff() { if !isBackoffAsked { backoffUntil = nil } }

    /// Something has happened that may have consequences.
    private mutating func wake() {
        switch state {
        case .idle, .concluded:
            state = .active
            (idleRounds, needsCheck, waitsUntil) = (0, true, nil)
        case .active, .round, .paused: break
        case .ended: preconditionFailure("an event cannot wake a loop that is \(state.name)")
        }
    }

    /// Takes that the mirror is paused, or for how long that is so; nil when it is not.
    mutating func setPause(_ rest: Duration?, at now: SyncInstant) {
        switch (rest, state) {
        case (_, .ended), (_, .idle): preconditionFailure("a pause cannot be set in a loop that is \(state.name)")
        case (let rest?, _):
            // A clock that is set otherwise, or a word that nobody told of, is noticed in time.
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

    /// Takes that the rules which keep entries out have changed.
    mutating func rulesChanged(at now: SyncInstant) { rescans.addEverything(at: now) }

    /// Tries files again that were being written.
    mutating func attend(_ items: [ItemID]) {
        retries.attend(items)
        if !items.isEmpty { needsRound = true }
    }

    /// Whether somebody has to say when the next files are to be read for the audit.
    var needsAuditTime: Bool { goal == .never && audits && !isAuditing && auditAt == nil }

    /// Takes when the next files are to be read for the audit.
    mutating func setAudit(at time: SyncInstant) { auditAt = time }

    /// Takes whether all folders are watched.
    mutating func setWatched(_ isWatched: Bool, at now: SyncInstant) {
        periodicScans.setWatched(isWatched, &rescans, at: now)
    }

    /// Takes what a step has done and found out; `places` is how many large files may travel now.
    ///
    /// - Returns: The problems that people are to be told of, each with how long the item waits.
    mutating func did(
        _ step: Step, _ report: SyncReport, places: Int, at now: SyncInstant
    ) throws(RemoteError) -> [(met: SyncReport.Met, delay: Duration)] {
        let problems = note(report, at: now)
        for request in report.transfers where transfers.admit(request, places: places) { starts.append(request) }
        ready.formUnion(report.ready)
        try advance(step, report, at: now)
        return problems
    }

    /// Takes what a step has found out, whether it came to its end or failed.
    ///
    /// - Returns: The problems that people are to be told of, each with how long the item waits.
    mutating func note(_ report: SyncReport, at now: SyncInstant) -> [(met: SyncReport.Met, delay: Duration)] {
        var problems: [(met: SyncReport.Met, delay: Duration)] = []
        for met in report.met {
            if let delay = retries.note(met.outcome, of: met.item, at: now) {
                problems.append((met, delay))
            } else if case .refused = met.outcome {
                // It may pass at once, and is a problem when it does not.
                needsRound = true
            }
        }
        rescans.add(report.rescans, at: now)
        deletions.count(report.deleted, at: now)
        if report.needsRecovery { needsRecovery = true }
        if report.isFeedStale, feed == .current { feed = .stale }
        return problems
    }

    private mutating func advance(
        _ step: Step, _ report: SyncReport, at now: SyncInstant
    ) throws(RemoteError) {
        switch step {
        case .recover: needsRecovery = report.needsRecovery
        case .check: needsCheck = false
        case .ingest where !report.hasChanges && !report.isFeedStale && report.met.isEmpty: break
        case .finish where !report.ready.isEmpty: needsConclusion = true
        case .judge: break
        case .finish, .ingest, .start, .land:
            (needsRound, needsConclusion) = (true, true)
            if report.done > 0 { progressed() }
        case .scan(let request):
            hasScanned = true
            if case .everything = request { (needsRound, needsConclusion) = (true, true) }
        case .settle:
            needsConclusion = true
            if report.done > 0 { progressed() }
            // What has no effect, or could only be decided together with others, is a round's.
            if report.hasChanges || !report.deletions.isEmpty || report.done == 0 && report.transfers.isEmpty {
                needsRound = true
            }
        case .pull:
            (needsRound, needsConclusion) = (true, true)
            // A server that takes back at the end of each pull what it has told gets no rest otherwise.
            if report.failure == nil {
                if feed == .stale { idleRounds += 1 }
                return
            }
        case .sync, .delete:
            needsConclusion = true
            try advanceRound(step, report, at: now)
        case .conclude:
            deletions.noteDeferral(isMissing: rescans.missingDeadline.map { $0 <= now } ?? false, at: now)
            (callFailures, needsConclusion) = (0, false)
            if state != .paused { state = .concluded }
        case .poll: isPolling = true
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
        switch step {
        case .sync: state = .round(after: report.last, deletions: known + report.deletions, done: done)
        default:
            state = .active
            // What has come meanwhile may ask for another round whatever this one has done.
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

    private mutating func progressed() { (idleRounds, callFailures) = (0, 0) }

    /// Takes how far a pull has come.
    mutating func pulled(_ result: PullResult) {
        switch (feed, result) {
        case (.current, _): preconditionFailure("a pull cannot end while the feed is current")
        case (_, .more(let lands)): feed = .partial(lands: lands)
        case (_, .end): feed = .current
        }
    }

    /// Takes that the contents that came with a part of the feed are on the disk, or on their way there.
    mutating func landed() {
        guard feed == .partial(lands: true) else { preconditionFailure("nothing lands while the feed is \(feed)") }
        feed = .partial(lands: false)
    }

    /// Takes what a scan has found; `lasting` is how long it took.
    mutating func scanned(
        _ request: ScanRequest, _ found: ScanReport, again: Set<ItemID>, unwatched: Set<ItemID>, lasting: Duration,
        at now: SyncInstant
    ) {
        let missing = rescans.missing
        rescans.end(request, vanished: found.vanished, at: now)
        if found.hasChanges || rescans.missing != missing { (needsRound, needsConclusion) = (true, true) }
        periodicScans.note(request, unwatched: unwatched, lasting: lasting)
        if goal == .never {
            rescans.addRacy(
                found.restless.subtracting(again), at: now + Fingerprint.racyWindow + .milliseconds(100))
        }
    }

    /// Counts a transient failure, and waits a little.
    ///
    /// - Throws: The error when there were too many.
    private mutating func fail(_ error: RemoteError, at now: SyncInstant) throws(RemoteError) {
        callFailures += 1
        needsRound = true
        if feed != .current { feed = .stale }
        // An answer that breaks the protocol may be another's; a second one is not.
        if callFailures > (error.code == .protocolViolation ? 1 : Self.mostFailures) { throw error }
        isBackoffAsked = error.retryAfter != nil
        backoffUntil =
            now + (error.retryAfter.map { .seconds(min($0, 30)) } ?? Backoff.call.delay(after: callFailures))
    }

    /// Takes that a step has failed for good.
    ///
    /// - Returns: When it is tried again.
    /// - Throws: The error when only a person can mend it, or the goal is not to go on.
    mutating func failed(
        _ step: Step, _ error: SyncError, at now: SyncInstant
    ) throws(SyncError) -> Duration {
        needsRecovery = true
        dropStarts()
        guard goal == .never, Self.mayPass(error) || error.code == .database && sessionFailures < 3 else {
            state = .ended
            throw error
        }
        sessionFailures += 1
        let delay = Backoff.session.delay(after: sessionFailures)
        (backoffUntil, isBackoffAsked) = (now + delay, false)
        state = .active
        feed = .stale
        (needsCheck, needsReload, needsRound) = (true, true, true)
        (callFailures, idleRounds) = (0, 0)
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

    /// Whether a failure may be over later; another's answer in the server's place may be, a wrong token is not.
    private static func mayPass(_ error: SyncError) -> Bool {
        if case .remote(let error) = error.code { return error.code != .unauthorized }
        return error.isRetryable
    }

    // MARK: Asked

    private var isInRound: Bool { if case .round = state { true } else { false } }

    private var isFeedPartial: Bool { if case .partial = feed { true } else { false } }

    /// Whether the tree is as the server is, as far as it has told.
    var isFeedRead: Bool { feed == .current && pages.isEmpty }

    /// Whether the disk changed a moment ago, so that more is likely to come and nothing is taken to be deleted.
    func isSettling(at now: SyncInstant) -> Bool {
        guard let lastDiskChange, now - lastDiskChange < Self.debounce else { return false }
        return !deletions.hasWaited(at: now)
    }

    /// The next step.
    mutating func next(at now: SyncInstant) -> Step {
        if state == .ended || state == .idle { preconditionFailure("a loop that is \(state.name) has no next step") }
        if let backoffUntil, backoffUntil > now { return .wait(until: backoffUntil) }
        (backoffUntil, isBackoffAsked) = (nil, false)
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
        if goal == .never, needsPoll(at: now) { return .poll }
        if idleRounds < Self.mostIdleRounds, let step = nextWork(at: now) { return step }
        if needsConclusion { return .conclude }
        state = .concluded
        if goal == .never { return nextInQuiet(at: now) }
        return nextInAgreement(at: now)
    }

    /// What was waited for is due.
    private mutating func goOn(at now: SyncInstant) {
        (state, needsCheck, waitsUntil, idleRounds) = (.active, true, nil, 0)
        if deletions.isDeferring { needsRound = true }
        if let scheduledAt, scheduledAt <= now { (needsRound, self.scheduledAt) = (true, nil) }
    }

    /// Whether the server's changes are to be waited for, also while there is other work; after failures that is put off.
    private mutating func needsPoll(at now: SyncInstant) -> Bool {
        if isPolling || feed != .current { return false }
        guard let pollAt else { return true }
        if pollAt <= now { (self.pollAt, feed) = (nil, .stale) }
        return false
    }

    /// What has come and is to be taken.
    private mutating func nextArrival() -> Step? {
        // While a part of the feed is read, the tree is no measure for what the server answers.
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

    /// What is to be done so that both sides come to agree.
    private mutating func nextWork(at now: SyncInstant) -> Step? {
        // What a scan has found goes first: a disk that never rests keeps nothing else from its turn.
        if hasScanned, let step = nextExchange(at: now) {
            hasScanned = false
            return step
        }
        // Contents of a feed that is read in part are on their way to the disk, and no scan may meet them there.
        if !isFeedPartial, let request = rescans.next(at: now, isSettling: isSettling(at: now)) {
            return .scan(request)
        }
        hasScanned = false
        return nextExchange(at: now)
    }

    /// What is to be done between the two sides.
    private mutating func nextExchange(at now: SyncInstant) -> Step? {
        switch feed {
        case .stale, .partial(lands: false):
            abandonRound()
            return .pull
        case .partial(lands: true): return .land
        case .current: break
        }
        if let next = retries.next, next <= now { needsRound = true }
        if let item = transfers.nextWaiting() { ready.insert(item) }
        if !ready.isEmpty, !needsRound || isInRound {
            defer { ready = [] }
            return .settle(ready)
        }
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

    /// A round whose trees change in the middle begins anew; what it has done stays done.
    private mutating func abandonRound() {
        guard case .round(_, _, let done) = state else { return }
        state = .active
        needsRound = true
        if done > 0 { progressed() } else { idleRounds += 1 }
    }

    /// What a continuous session does when nothing is left to do.
    private mutating func nextInQuiet(at now: SyncInstant) -> Step {
        periodicScans.plan(&rescans, at: now)
        sessionFailures = 0
        if idleRounds >= Self.mostIdleRounds, hasWork(at: now) {
            // What never has an effect is tried again later.
            (backoffUntil, isBackoffAsked) = (now + Backoff.session.delay(after: idleRounds), false)
            idleRounds = 0
            needsRound = true
            state = .active
            return .wait(until: backoffUntil)
        }
        if audits, !isAuditing, let auditAt, auditAt <= now, !isSettling(at: now) {
            self.auditAt = nil
            return .audit
        }
        // What was due before does not become due later because something else has happened.
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
        scheduledAt = transfers.scheduled.isEmpty ? nil : scheduledAt ?? now + Self.scheduleInterval
        let deadlines = [
            rescans.deadline, isSettling ? nil : rescans.missingDeadline, retries.next, settled, scheduledAt, pollAt,
            isAuditing || isSettling ? nil : auditAt,
        ]
        return deadlines.compactMap(\.self).min().map { max($0, now + .milliseconds(1)) }
    }

    /// What a session that goes for agreement does when nothing is left to do now.
    private mutating func nextInAgreement(at now: SyncInstant) -> Step {
        guard case .agreement(_, let waitsForTransfers) = goal else {
            preconditionFailure("a loop without end cannot be in agreement")
        }
        if waitsForTransfers, !transfers.isEmpty { return .wait(until: nil) }
        if idleRounds < Self.mostIdleRounds, let missing = rescans.missingDeadline, missing - now < .seconds(1) {
            waitsUntil = missing
            return .wait(until: missing)
        }
        if retriesLeft > 0, let next = retries.next {
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

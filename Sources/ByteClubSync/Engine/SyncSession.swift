import ByteClubCore

/// How a run of a session ended.
struct SessionOutcome: Hashable, Sendable {
    /// How many entries' deletions the guard holds.
    var held = 0
    /// Why syncing is paused; nil when it is not.
    var pause: SessionPause?
}

/// Why a session changes nothing and uses no network for now.
enum SessionPause: Hashable, Sendable {
    /// A person has asked for it, until this time in seconds since 1970, or `Int64.max` until it is resumed.
    case asked(until: Int64)
    /// The network is metered, and the configuration asks for an unmetered one.
    case metered

    /// After how long it is over; at a time in seconds since 1970.
    func rest(at seconds: Int64) -> Duration {
        if case .asked(let until) = self, until != .max { .seconds(until - seconds) } else { .seconds(10) }
    }
}

/// Synchronises one directory with one server folder: it performs the steps that the loop decides on, and reports their
/// results to it.
///
/// Every outside event is posted to the inbox and handled between two steps; `run(until:)` is the only entry, so that
/// nothing else changes the trees while a step waits for the disk or the server.
actor SyncSession {
    /// How many items are planned at once.
    private static let sliceSize = 4_096
    /// How many of them are looked up at once.
    private static let slicePart = 512
    /// After how long without events memory is released.
    private static let restDelay = Duration.seconds(4)

    private let environment: SyncEnvironment
    private let executor: any SerialExecutor
    private let context: SyncContext
    private let root: MirrorRoot
    private let control: ControlDirectory
    private let local: LocalReplica
    private let transfers: TransferRunner
    private let auditor: Auditor
    private let connector: RemoteConnector
    private let plans: PlanRunner
    private let status: StatusRecorder
    private let watcher: (any FolderWatcher)?
    private let inbox: SyncInbox

    private var loop: SyncLoop
    private var pace = GroupPace()
    private var desk: DeletionDesk
    private var outcome = SessionOutcome()
    /// Deletions that this run has tried to restore from the server's history.
    private var undeleted: Set<ItemID> = []
    /// Items whose inline contents have arrived since others were installed last.
    private var arrived: Set<ItemID> = []
    /// Whether the root was checked, and nothing that may last has been done since.
    private var isRootChecked = false
    private var hasRested = false
    /// Whether the network is metered, as the configuration's stream has reported last.
    private var isMetered = false
    /// Background work that is not a transfer.
    private var (polling, auditing): (Task<Void, Never>?, Task<Void, Never>?)

    private var store: any TreeStore { context.store }
    private var now: SyncInstant { environment.clock.now }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Opens a mirror.
    ///
    /// - Throws: ``SyncError`` with the code `rootMissing`, `rootReplaced` or `database`.
    init(
        _ configuration: SyncConfiguration, _ remote: any Remote, _ environment: SyncEnvironment,
        _ inbox: SyncInbox, watcher: (any FolderWatcher)? = nil, onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) throws {
        self.environment = environment
        self.inbox = inbox
        self.watcher = watcher
        executor = environment.executor
        let store = try environment.openStore()
        root = try MirrorRoot(configuration, environment, store, isDryRun: false)
        control = try ControlDirectory(in: root.folder)
        guard try control.setLocked(true) else {
            throw SyncError(
                .alreadyRunning, "another sync of '\(configuration.directory)' is running, by another path to it")
        }
        let id = try root.identify(control, store)
        context = SyncContext(
            configuration, environment, store: store, root: root.folder, isWatching: watcher != nil)
        let scanner = Scanner(root: root.folder, store: store) { folder, item, isNew in
            watcher?.add(folder, item, isNew: isNew)
        }
        scanner.approvesDeletions = configuration.approvesDeletions
        local = LocalReplica(context, control, scanner)
        transfers = TransferRunner(context, local, inbox)
        auditor = Auditor(context)
        connector = RemoteConnector(
            context, remote, scanner, OperationIDs(mirror: id, at: environment.disk.now()))
        plans = PlanRunner(context: context, local: local, connector: connector)
        status = StatusRecorder(context, onEvent)
        loop = SyncLoop(configuration)
        if try store.meta(.member) != configuration.memberName { try store.setMeta(.member, configuration.memberName) }
        // An engine that was killed leaves it.
        if try store.meta(.metered) != nil { try store.setMeta(.metered, nil) }
        desk = try DeletionDesk(context)
    }

    /// Checks for late writes for the last time and closes the database; the session may not be used after that.
    func close() async throws {
        // Best effort: later writes are found when the trash is emptied.
        var report = SyncReport()
        context.handles.forgetAll()
        try? local.trash.catchLateWrites(isLast: true, &report)
        polling?.cancel()
        auditing?.cancel()
        await transfers.end()
        // Another path to the mirror may be the next; without an answer, closing it does the same.
        _ = try? control.setLocked(false)
        try store.setMeta(.watching, nil)
        try status.noteMetered(false)
        try store.close()
    }

    /// Syncs until a goal is reached.
    ///
    /// - Throws: ``SyncError`` when it cannot be reached; everything before the error stays done, and the next run
    ///   continues from there.
    func run(until goal: SyncGoal) async throws(SyncError) -> SessionOutcome {
        loop.begin(goal, at: now)
        while true {
            for event in inbox.drain() { receive(event) }
            transfers.keepPace()
            let step = loop.next(at: now)
            if case .end = step { return outcome }
            var report = SyncReport()
            do {
                do {
                    try await perform(step, &report)
                } catch {
                    status.emit(report.emissions)
                    desk.count(report.deleted)
                    try? status.record(loop.note(report, at: now))
                    try? desk.storeWave()
                    throw error
                }
                status.emit(report.emissions)
                desk.count(report.deleted)
                let end = now
                try status.record(
                    loop.did(step, report, slots: transfers.slots, paceEnds: transfers.paceEnds(after: end), at: end))
                try desk.storeWave()
            } catch {
                try await recover(from: SyncError.wrapping(error), in: step)
            }
        }
    }

    /// The effects of a sync, and the work that is left.
    func summary() throws -> SyncSummary {
        var summary = try status.summary(outcome, loop.backlog, local.scope)
        if loop.isWorkLeft(at: now) { summary.isComplete = false }
        if watcher == nil, !summary.isComplete { try status.explainEnd(summary, outcome) }
        return summary
    }

    /// Why the server refused the first single entry that no retry will mend; nil when it refused none so.
    var refusal: RemoteError? { status.refusal }

    /// Emits an event.
    func emit(_ event: SyncEvent) { status.emit(event) }

    // MARK: Between steps

    private func receive(_ event: SessionEvent) {
        if case .network(let isMetered) = event {
            self.isMetered = isMetered
            // The check that begins the pause comes after a wait that the server has asked for.
            if isMetered { leaveNetwork() }
        }
        if case .transferProgressed(let item, let progress) = event, outcome.pause == nil,
            loop.travelling.contains(item)
        {
            // Best effort: without it, a status query shows less.
            if status.note(progress, of: item) { try? status.record(loop.backlog) }
        }
        loop.receive(event, at: now)
    }

    /// Stops what uses the network beside the steps; stopped transfers are planned again when the steps go on.
    private func leaveNetwork() {
        transfers.stop()
        polling?.cancel()
        loop.pollCancelled()
    }

    /// Continues after a transient failure.
    private func recover(from error: SyncError, in step: SyncLoop.Step) async throws(SyncError) {
        connector.replica?.abandonPull()
        var report = SyncReport()
        try? await local.bulk.settle(&report)
        status.emit(report.emissions)
        status.note(obstacle: error)
        let delay = try loop.failed(step, error, at: now)
        let next = context.seconds + max(1, delay.components.seconds)
        status.emit(SyncEvent(.problem, message: error.message, until: next))
    }

    // MARK: Steps

    private func perform(_ step: SyncLoop.Step, _ report: inout SyncReport) async throws {
        // Folders may have been moved since the last scan.
        context.handles.forgetAll()
        if step.mayLast { isRootChecked = false }
        switch step {
        case .recover: try local.recover(besides: loop.travelling.union(local.bulk.items), &report)
        case .check(let reloads, let restores): try await check(reloads, restores, &report)
        case .finish(let item, let result):
            status.noteEnd(of: item)
            try await transfers.finish(item, result, replica(), &report)
        case .judge(let file): try auditor.judge(file, &report)
        case .ingest(let changes, let cursor):
            try await replica().ingest(changes, after: cursor, &report)
        case .start(let requests): try await start(requests, &report)
        case .scan(let request):
            // No scan may find contents that are still being installed, as after a failure.
            try await local.bulk.settle(&report)
            try scan(request, &report)
        case .pull: try await pull(&report)
        case .installInline:
            try await plans.fetcher().installInline(arrived, missing: loop.unconfirmed, &report)
            arrived = []
            loop.installedInline()
        case .sync(let last): try await sync(after: last, &report)
        case .settle(let items): try await settle(items, &report)
        case .delete(let items): try await delete(items, &report)
        case .conclude: try conclude(&report)
        case .poll: try await poll()
        case .audit: try audit(&report)
        case .wait(let deadline): try await wait(until: deadline)
        case .end: preconditionFailure("the end is no step")
        }
    }

    private func replica() async throws(RemoteError) -> any RemoteReplica {
        try await connector.connect()
    }

    private func check(_ reloads: Bool, _ restores: Bool, _ report: inout SyncReport) async throws {
        if try await pauseIfAsked(&report) { return }
        loop.setPause(nil, at: now)
        outcome.pause = nil
        try status.noteMetered(false)
        try root.check(store)
        isRootChecked = true
        try local.trash.catchLateWrites(&report)
        loop.setLateCheck(at: local.trash.nextLateCheck)
        local.deleter.begin()
        try desk.forgetDecided()
        if reloads { undeleted = [] }
        if restores { try await undelete(&report) }
        if try reloads || local.scope.isStale(), try local.scope.reload(&desk.deletions, &report) {
            loop.rulesChanged(at: now)
        }
    }

    /// Restores some of the wanted deletions, and has another check continue with the rest.
    private func undelete(_ report: inout SyncReport) async throws {
        guard try store.records(SentDeletion.self).contains(where: \.isWanted) else { return }
        let tried = try await replica().tree.undelete(besides: undeleted, &report)
        undeleted.formUnion(tried)
        if tried.count == RemoteTree.mostRestored { loop.restoreMore() }
    }

    /// Pauses when a person has asked for it, or while the network is metered.
    ///
    /// - Returns: Whether the mirror is paused.
    private func pauseIfAsked(_ report: inout SyncReport) async throws -> Bool {
        let asked = try store.pausedUntil(at: context.seconds).map { SessionPause.asked(until: $0) }
        guard let pause = asked ?? (isMetered ? .metered : nil) else { return false }
        if isMetered { leaveNetwork() } else { transfers.stop() }
        // When syncing continues, no scan may find contents that are being installed.
        connector.replica?.abandonPull()
        try await local.bulk.settle(&report)
        try status.noteMetered(pause == .metered)
        if pause != outcome.pause, watcher != nil { status.emit(SyncEvent(pause)) }
        outcome.pause = pause
        loop.setPause(pause.rest(at: context.seconds), at: now)
        return true
    }

    private func scan(_ request: ScanRequest, _ report: inout SyncReport) throws {
        let start = now
        let (again, changed) = loop.beginScan(request, at: start)
        try attend(changed)
        try unwatch(request)
        let found = try local.scan(request, &report)
        if let watcher {
            loop.setWatched(watcher.problem == nil, at: now)
            try status.noteWatching(watcher.problem)
        }
        loop.scanned(
            request, found, again: again, unwatched: watcher?.unwatched(of: found.racyFolders) ?? [],
            lasting: now - start, at: now)
    }

    /// Retries files that were being written, in folders that the user has changed since.
    private func attend(_ changed: Set<ItemID>) throws {
        let written = try loop.beingWritten.filter { id in
            try store.item(id)?.local.map { changed.contains($0.location.parent) } ?? true
        }
        loop.attend(written)
    }

    /// Stops watching folders of a scan that have left the mirror.
    private func unwatch(_ request: ScanRequest) throws {
        guard let watcher, let folders = request.folders else { return }
        watcher.remove(try folders.sorted().filter { try $0 != .root && store.item($0)?.local == nil })
    }

    private func pull(_ report: inout SyncReport) async throws {
        do {
            let replica = try await replica()
            let result = try await replica.pull(&report)
            if replica.inlineContents.isEmpty { arrived = [] } else { arrived.formUnion(report.ready) }
            if result == .current {
                arrived = []
                try await local.bulk.settle(&report)
            }
            loop.pulled(result)
        } catch {
            arrived = []
            connector.replica?.abandonPull()
            try? await local.bulk.settle(&report)
            // The next pull is right about an entry that changed while it was read; a lasting fault prevents agreement.
            guard let error = error as? RemoteError, error.code != .cancelled, error.code != .unauthorized else {
                throw error
            }
            report.failure = error
        }
    }

    private func start(_ requests: [TransferRequest], _ report: inout SyncReport) async throws {
        var rest = requests[...]
        do {
            while let request = rest.first {
                if try await !transfers.start(request, replica(), &report) { loop.notStarted(request.item) }
                rest.removeFirst()
            }
        } catch {
            for request in rest { loop.notStarted(request.item) }
            throw error
        }
        try status.record(loop.backlog)
    }

    private func poll() async throws {
        guard let work = try await replica().poll() else { return inbox.post(.polled(.failed)) }
        polling = runBeside { do { return .polled(try await work()) } catch { return .polled(.failed) } }
    }

    private func audit(_ report: inout SyncReport) throws {
        guard let work = try auditor.next(&report) else { return inbox.post(.audited(nil)) }
        auditing = runBeside { .audited(await work()) }
    }

    /// Runs work whose event is posted, unless the session ends before.
    private func runBeside(_ work: @escaping @Sendable () async -> SessionEvent) -> Task<Void, Never> {
        Task(executorPreference: environment.workers) { [inbox] in
            if Task.isCancelled { return }
            let event = await work()
            if !Task.isCancelled { inbox.post(event) }
        }
    }

    private func wait(until deadline: SyncInstant?) async throws {
        local.reader.forgetContents()
        let rest = now + Self.restDelay
        if !hasRested, deadline.map({ $0 > rest }) ?? true, loop.travelling.isEmpty, watcher != nil {
            try await inbox.wait(until: rest, environment)
            if now >= rest {
                hasRested = true
                try store.rest()
            }
            return
        }
        try await inbox.wait(until: deadline, environment)
    }

    // MARK: Rounds

    /// Plans a slice of the unsettled items and carries the plan out; deletions are checked with the last slice.
    private func sync(after last: ItemID?, _ report: inout SyncReport) async throws {
        hasRested = false
        if try await pauseIfAsked(&report) { return }
        if last == nil { try checkRoot() }
        let slice = try slice(after: last)
        report.last = slice.last?.id ?? .root
        try await plan(slice, &report)
    }

    /// The next unsettled items that are planned together: many notes, or some photos.
    private func slice(after last: ItemID?) throws -> [Item] {
        var slice: [Item] = []
        var next = last
        while slice.count < Self.sliceSize {
            let part = try store.unsettled(after: next, limit: Self.slicePart)
            slice += part
            let some = firstOf(slice)
            if some.count < slice.count || part.count < Self.slicePart { return some }
            next = part.last?.id
        }
        return slice
    }

    /// The first of some items, as many as their pace allows of files that travel in groups.
    private func firstOf(_ items: [Item]) -> [Item] {
        var bytes: Int64 = 0
        let end = items.firstIndex { item in
            bytes += item.groupBytes
            return bytes >= pace.bytes
        }
        return end.map { Array(items[...$0]) } ?? items
    }

    /// Plans some items alone, and carries the plan out.
    private func settle(_ items: Set<ItemID>, _ report: inout SyncReport) async throws {
        hasRested = false
        if try await pauseIfAsked(&report) { return }
        try checkRoot()
        let due = try items.sorted().compactMap { try store.item($0) }.filter { !$0.isSettled }
        try await plan(firstOf(due), &report)
        // A round plans the items that one plan has not settled.
        let travelling = loop.travelling.union(report.transfers.map(\.item))
        let isLeft = try items.contains { try !travelling.contains($0) && store.item($0)?.isSettled != true }
        if isLeft { report.hasChanges = true }
    }

    /// Checks the root before something is planned, unless the check has just done it; each check serves once.
    private func checkRoot() throws {
        if !isRootChecked { try root.check(store) }
        isRootChecked = false
    }

    private func plan(_ items: [Item], _ report: inout SyncReport) async throws {
        let start = now
        try await plans.run(items, besides: loop.busy(at: start), unconfirmed: loop.unconfirmed, &report)
        pace.note(items.reduce(0) { $0 + $1.groupBytes }, lasting: now - start)
    }

    /// Judges the deletions of the round that are still due, and carries out the allowed ones.
    private func delete(_ items: [ItemID], _ report: inout SyncReport) async throws {
        if try await pauseIfAsked(&report) { return }
        if !items.isEmpty { try root.check(store) }
        let view = UnconfirmedView(base: store, unconfirmed: loop.unconfirmed)
        let wanted =
            try items.isEmpty
            ? [] : store.reading { try Planner.plan(items, in: view).operations.filter(\.isDeletion) }
        let verdict = try desk.judge(wanted, isSettling: loop.isSettling(at: now))
        report.verdict = verdict
        outcome.held = verdict.heldWeight
        let writes = verdict.allowed.compactMap(\.write)
        try desk.prepare(writes.map(\.item), verdict)
        try status.record(verdict)
        try local.deleter.delete(verdict.allowed.filter { $0.side == .local }.map(\.item), &report)
        if writes.isEmpty { return }
        // An approved deletion makes no later one doubtful, also when the write is cut off.
        defer { if verdict.usesApproval { report.deleted = [] } }
        try await replica().write(writes, local.reader, &report)
        if report.failure == nil { desk.answered() }
    }

    // MARK: Conclusion

    /// Does periodic maintenance, and records the mirror's status.
    private func conclude(_ report: inout SyncReport) throws {
        try local.maintain(besides: loop.travelling, &report)
        try auditor.review()
        local.reader.forgetContents()
        let isWorkLeft = loop.isWorkLeft(at: now)
        try loop.forgetRetries { [store] in try store.item($0)?.isSettled ?? true }
        if !isWorkLeft { connector.replica?.inlineContents.clear() }
        let hasNoProblems = try status.review(local.scope.ignoreFiles.held)
        let backlog = loop.backlog
        try status.record(backlog)
        if !isWorkLeft {
            try status.clearObstacle()
            let isHeld = outcome.held > 0 || local.scope.ignoreFiles.held != nil
            if hasNoProblems, backlog.isEmpty, !isHeld { try status.noteAgreement() }
        }
        loop.setLateCheck(at: local.trash.nextLateCheck)
        if loop.needsAuditTime {
            loop.setAudit(at: now + (auditor.hasNext ? .zero : try auditor.step().pause))
        }
        if watcher != nil { status.emit(SyncEvent(.idle, summary: try summary())) }
        status.conclude()
    }
}

import ByteClubCore

/// How a run of a session ended.
struct SessionOutcome: Hashable, Sendable {
    /// How many entries' deletions the guard holds.
    var held = 0
    /// Until when syncing is paused, in seconds since 1970, or `Int64.max` until it is resumed; nil when it is not.
    var pausedUntil: Int64?
}

/// Synchronises one directory with one server folder. It decides nothing: it asks the loop for steps, performs them and
/// reports.
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

    private let configuration: SyncConfiguration
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
    private let reporter: SyncReporter
    private let status: StatusRecorder
    private let watcher: (any FolderWatcher)?
    private let inbox: SyncInbox

    private var loop: SyncLoop
    private var pace = GroupPace()
    private var outcome = SessionOutcome()
    /// The wave of deletions as it is stored.
    private var storedWave = DeletionWave()
    /// Whether the wave may have deleted more than is counted.
    private var isWaveUnsure = true
    /// What this run has tried to bring back from the server's history.
    private var undeleted: Set<ItemID> = []
    /// What a pull has told of since inline contents were installed last.
    private var arrived: Set<ItemID> = []
    /// Whether the root was checked, and nothing that may last has been done since.
    private var isRootChecked = false
    private var hasRested = false
    /// Background work that is not a transfer.
    private var (polling, auditing): (Task<Void, Never>?, Task<Void, Never>?)

    private var store: any TreeStore { context.store }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Opens a mirror.
    ///
    /// - Throws: ``SyncError`` with the code `rootMissing`, `rootReplaced` or `database`.
    init(
        _ configuration: SyncConfiguration, _ remote: any Remote, _ environment: SyncEnvironment,
        _ inbox: SyncInbox, watcher: (any FolderWatcher)? = nil, onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) throws {
        self.configuration = configuration
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
            RemoteTree(context, remote, scanner), OperationIDs(mirror: id, at: environment.disk.now()))
        plans = PlanRunner(context: context, local: local, connector: connector)
        reporter = SyncReporter(onEvent)
        status = StatusRecorder(context, reporter)
        loop = SyncLoop(configuration)
        if try store.meta(.member) != configuration.memberName { try store.setMeta(.member, configuration.memberName) }
        storedWave = try store.wave(at: environment.clock.now, seconds: context.seconds)
        if storedWave.last != nil { storedWave.notice(try store.newItem()) }
        loop.deletions.wave = storedWave
    }

    /// Checks for late writes for the last time and closes the database; nothing may be asked of the session after.
    func close() async throws {
        // Best effort: what is written from now on is found when the trash is emptied.
        var report = SyncReport()
        context.handles.forgetAll()
        try? local.trash.catchLateWrites(isLast: true, &report)
        polling?.cancel()
        auditing?.cancel()
        await transfers.end()
        // Another path to the mirror may be the next; without an answer, closing it does the same.
        _ = try? control.setLocked(false)
        try store.setMeta(.watching, nil)
        try store.close()
    }

    /// Syncs until a goal is reached.
    ///
    /// - Throws: ``SyncError`` when it cannot be reached; what was done until then stays done, and the next run
    ///   continues from there.
    func run(until goal: SyncGoal) async throws(SyncError) -> SessionOutcome {
        loop.begin(goal, at: environment.clock.now)
        while true {
            for event in inbox.drain() { receive(event) }
            transfers.keepPace()
            let step = loop.next(at: environment.clock.now)
            if case .end = step { return outcome }
            var report = SyncReport()
            do {
                do {
                    try await perform(step, &report)
                } catch {
                    reporter.emit(report.emissions)
                    try? status.record(loop.note(report, at: environment.clock.now))
                    try? storeWave()
                    throw error
                }
                reporter.emit(report.emissions)
                let now = environment.clock.now
                try status.record(
                    loop.did(step, report, slots: transfers.slots, paceEnds: transfers.paceEnds(after: now), at: now))
                try storeWave()
            } catch {
                try await recover(from: SyncError.wrapping(error), in: step)
            }
        }
    }

    /// What a sync did, and what is left.
    func summary() throws -> SyncSummary {
        var summary = try status.summary(outcome, loop.transfers, loop.retries, local.scope)
        if loop.isWorkLeft(at: environment.clock.now) { summary.isComplete = false }
        if watcher == nil, !summary.isComplete { try status.explainEnd(summary, outcome) }
        return summary
    }

    /// Why the server refused the first single entry that no retry will mend; nil when it refused none so.
    var refusal: RemoteError? { status.refusal }

    /// Emits an event.
    func emit(_ event: SyncEvent) { reporter.emit(event) }

    // MARK: Between steps

    private func receive(_ event: SessionEvent) {
        if case .transferProgressed(let item, let progress) = event {
            status.note(progress, of: item, loop.transfers, loop.retries)
        }
        loop.receive(event, at: environment.clock.now)
    }

    /// Stores the wave of deletions when it has begun or grown, so that the next engine goes on with it.
    private func storeWave() throws {
        let wave = loop.deletions.wave
        if !wave.isNew, wave.count == storedWave.count { return }
        try store.save(wave, seconds: context.seconds)
        noteWave()
    }

    private func noteWave() {
        loop.deletions.wave.stored()
        storedWave = loop.deletions.wave
    }

    /// Forgets the wave of deletions when a person has decided about it.
    private func checkWave() throws {
        guard storedWave.last != nil, try store.records(DeletionWaveRecord.self).isEmpty else { return }
        (storedWave, loop.deletions.wave) = (DeletionWave(), DeletionWave())
    }

    /// Continues after a transient failure.
    private func recover(from error: SyncError, in step: SyncLoop.Step) async throws(SyncError) {
        connector.replica?.abandonPull()
        var report = SyncReport()
        try? await local.bulk.settle(&report)
        reporter.emit(report.emissions)
        status.note(obstacle: error)
        let delay = try loop.failed(step, error, at: environment.clock.now)
        let next = context.seconds + max(1, delay.components.seconds)
        reporter.emit(SyncEvent(.problem, message: error.message, until: next))
    }

    // MARK: Steps

    private func perform(_ step: SyncLoop.Step, _ report: inout SyncReport) async throws {
        // Folders may have been moved since the last scan.
        context.handles.forgetAll()
        connector.tree.refused = loop.retries.refused
        if step.mayLast { isRootChecked = false }
        switch step {
        case .recover: try local.recover(besides: loop.transfers.items.union(local.bulk.items), &report)
        case .check(let reloads): try await check(reloads, &report)
        case .finish(let item, let result):
            status.noteEnd(of: item)
            try await transfers.finish(item, result, replica(), &report)
        case .judge(let file): try auditor.judge(file, &report)
        case .ingest(let changes, let cursor):
            try await replica().ingest(changes, after: cursor, &report)
        case .start(let requests): try await start(requests, &report)
        case .scan(let request):
            // No scan may find contents that are being installed, as after a failure.
            try await local.bulk.settle(&report)
            try scan(request, &report)
        case .pull: try await pull(&report)
        case .installInline:
            try await fetcher().installInline(arrived, missing: loop.rescans.missing, local.mover, &report)
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

    private func fetcher() async throws -> ContentFetcher { ContentFetcher(context, try await replica(), local.bulk) }

    private func check(_ reloads: Bool, _ report: inout SyncReport) async throws {
        if let until = try store.pausedUntil(at: context.seconds) { return try await pause(until, &report) }
        loop.setPause(nil, at: environment.clock.now)
        outcome.pausedUntil = nil
        try root.check(store)
        isRootChecked = true
        try local.trash.catchLateWrites(&report)
        loop.lateCheckAt = local.trash.nextLateCheck
        local.deleter.begin()
        try checkWave()
        if reloads { undeleted = [] }
        if reloads || loop.isUndeleting { try await undelete(&report) }
        if try reloads || local.scope.isStale(), try local.scope.reload(&loop.deletions, &report) {
            loop.rulesChanged(at: environment.clock.now)
        }
    }

    /// Brings back some of what is wanted back, and has another check go on with the rest.
    private func undelete(_ report: inout SyncReport) async throws {
        loop.isUndeleting = false
        guard try store.records(SentDeletion.self).contains(where: \.isWanted) else { return }
        _ = try await replica()
        let undeletion = Undeletion(context: context, remote: connector.tree.remote)
        let tried = try await undeletion.run(besides: undeleted, &report)
        undeleted.formUnion(tried)
        loop.isUndeleting = tried.count == Undeletion.mostAtOnce
    }

    private func pause(_ until: Int64, _ report: inout SyncReport) async throws {
        transfers.stop()
        // When syncing continues, no scan may find contents that are being installed.
        connector.replica?.abandonPull()
        try await local.bulk.settle(&report)
        if until != outcome.pausedUntil, watcher != nil { reporter.emit(SyncEvent(pausedUntil: until)) }
        outcome.pausedUntil = until
        let rest: Duration = until == .max ? .seconds(10) : .seconds(until - context.seconds)
        loop.setPause(rest, at: environment.clock.now)
    }

    private func scan(_ request: ScanRequest, _ report: inout SyncReport) throws {
        let start = environment.clock.now
        let (again, changed) = loop.rescans.begin(request, at: start)
        try attend(changed)
        try unwatch(request)
        let found = try local.scan(request, &report)
        if let watcher {
            loop.setWatched(watcher.problem == nil, at: environment.clock.now)
            try status.noteWatching(watcher.problem)
        }
        loop.scanned(
            request, found, again: again, unwatched: watcher?.unwatched(of: found.racyFolders) ?? [],
            lasting: environment.clock.now - start, at: environment.clock.now)
    }

    /// Retries files that were being written in folders that somebody has changed since.
    private func attend(_ changed: Set<ItemID>) throws {
        let written = try loop.retries.beingWritten.keys.sorted().filter { id in
            try store.item(id)?.local.map { changed.contains($0.location.parent) } ?? true
        }
        loop.attend(written)
    }

    /// Stops watching folders of a scan that have left the mirror.
    private func unwatch(_ request: ScanRequest) throws {
        guard let watcher else { return }
        let folders: Set<ItemID>
        switch request {
        case .files(let closed): folders = Set(closed.keys)
        case .folders(let scanned): folders = scanned
        case .everything: return
        }
        watcher.remove(try folders.sorted().filter { try $0 != .root && store.item($0)?.local == nil })
    }

    private func pull(_ report: inout SyncReport) async throws {
        do {
            let replica = try await replica()
            let result = try await replica.pull(&report)
            if replica.inlineContents.isEmpty { arrived = [] } else { arrived.formUnion(report.ready) }
            if result == .end {
                arrived = []
                try await ContentFetcher(context, replica, local.bulk).settle(&report)
            }
            loop.pulled(result)
        } catch {
            arrived = []
            if let replica = connector.replica {
                replica.abandonPull()
                try? await ContentFetcher(context, replica, local.bulk).settle(&report)
            }
            // An entry that changed while it was read is right the next time; a lasting fault prevents agreement.
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
                if try await !transfers.start(request, replica(), &report) { _ = loop.transfers.end(request.item) }
                rest.removeFirst()
            }
        } catch {
            for request in rest { _ = loop.transfers.end(request.item) }
            throw error
        }
        try status.recordWaiting(loop.transfers, loop.retries)
    }

    private func poll() async throws {
        guard let work = try await replica().poll() else { return inbox.post(.polled(.failed)) }
        polling = runBeside { [inbox] in
            let result: PollResult
            do { result = try await work() } catch { result = .failed }
            if !Task.isCancelled { inbox.post(.polled(result)) }
        }
    }

    private func audit(_ report: inout SyncReport) throws {
        guard let work = try auditor.next(&report) else { return inbox.post(.audited(nil)) }
        auditing = runBeside { [inbox] in
            let file = await work()
            if !Task.isCancelled { inbox.post(.audited(file)) }
        }
    }

    private func runBeside(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: environment.workers) { await work() }
    }

    private func wait(until deadline: SyncInstant?) async throws {
        local.reader.forgetContents()
        let rest = environment.clock.now + Self.restDelay
        if !hasRested, deadline.map({ $0 > rest }) ?? true, loop.transfers.isEmpty, watcher != nil {
            try await inbox.wait(until: rest, environment)
            if environment.clock.now >= rest {
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
        if let until = try store.pausedUntil(at: context.seconds) { return try await pause(until, &report) }
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
        if let until = try store.pausedUntil(at: context.seconds) { return try await pause(until, &report) }
        try checkRoot()
        let due = try items.sorted().compactMap { try store.item($0) }.filter { !$0.isSettled }
        try await plan(firstOf(due), &report)
        // What one plan does not settle is a round's.
        let travelling = loop.transfers.items.union(report.transfers.map(\.item))
        let isLeft = try items.contains { try !travelling.contains($0) && store.item($0)?.isSettled != true }
        if isLeft { report.hasChanges = true }
    }

    /// Checks the root before something is planned, unless the check has just done it; each check serves once.
    private func checkRoot() throws {
        if !isRootChecked { try root.check(store) }
        isRootChecked = false
    }

    private func plan(_ items: [Item], _ report: inout SyncReport) async throws {
        let busy = loop.transfers.items.union(loop.retries.waiting(at: environment.clock.now))
        let start = environment.clock.now
        try await plans.run(items, besides: busy, unconfirmed: loop.rescans.missing, &report)
        pace.note(items.reduce(0) { $0 + $1.groupBytes }, lasting: environment.clock.now - start)
    }

    /// Checks the deletions that the round has planned and that are still due, and carries out those that are allowed.
    private func delete(_ items: [ItemID], _ report: inout SyncReport) async throws {
        if let until = try store.pausedUntil(at: context.seconds) { return try await pause(until, &report) }
        if !items.isEmpty { try root.check(store) }
        let view = UnconfirmedView(base: store, unconfirmed: loop.rescans.missing)
        let wanted =
            try items.isEmpty
            ? [] : store.reading { try Planner.plan(items, in: view).operations.filter(\.isDeletion) }
        try checkWave()
        if isWaveUnsure, storedWave.last != nil, !wanted.isEmpty {
            loop.deletions.wave.recount(try store.goneInWave())
            isWaveUnsure = false
        }
        let now = environment.clock.now
        var verdict = loop.deletions.judge(
            try store.candidates(wanted, in: loop.deletions.wave), of: try store.syncedCount(),
            approved: Set(try store.records(ApprovedDeletion.self).map(\.item)),
            held: Set(try store.heldDeletions().map(\.item)), isSettling: loop.isSettling(at: now), at: now)
        // What was renamed to what is not synced is gone for the others, whatever the threshold.
        for move in try store.candidates(store.unsyncedDeletions(), in: loop.deletions.wave) { verdict.hold(move) }
        if loop.deletions.wave.last != nil, loop.deletions.wave.start == nil {
            loop.deletions.wave.notice(try store.newItem())
        }
        report.wave = loop.deletions.wave
        outcome.held = verdict.heldWeight
        let writes = verdict.allowed.compactMap(\.write)
        if verdict.isOfWave, !writes.isEmpty {
            try store.remember(writes.map(\.item), of: loop.deletions.wave, seconds: context.seconds)
            noteWave()
        } else {
            // What an earlier wave has deleted must not come back with what is held now.
            try storeWave()
        }
        try status.record(verdict)
        try local.deleter.delete(verdict.allowed.filter { $0.side == .local }.map(\.item), &report)
        if writes.isEmpty { return }
        // What a person has approved makes nothing after it doubtful, also when the write is cut off.
        defer { if verdict.usesApproval { report.deleted = 0 } }
        isWaveUnsure = true
        try await replica().write(writes, local.reader, &report)
        isWaveUnsure = report.failure != nil
    }

    // MARK: Conclusion

    /// Does periodic maintenance, and records the mirror's status.
    private func conclude(_ report: inout SyncReport) throws {
        try local.maintain(besides: loop.transfers.items, &report)
        try auditor.review()
        local.reader.forgetContents()
        let isWorkLeft = loop.isWorkLeft(at: environment.clock.now)
        loop.retries.forget(try loop.retries.all.sorted().filter { try store.item($0)?.isSettled ?? true })
        if !isWorkLeft { connector.replica?.inlineContents.clear() }
        let hasNoProblems = try status.review(local.scope.heldRules)
        try status.recordWaiting(loop.transfers, loop.retries)
        if !isWorkLeft { try status.clearObstacle() }
        let isDone =
            hasNoProblems && loop.retries.waiting.isEmpty && loop.transfers.isEmpty
            && loop.transfers.scheduled.isEmpty
        if isDone, !isWorkLeft, outcome.held == 0, local.scope.heldRules == nil { try status.noteAgreement() }
        loop.lateCheckAt = local.trash.nextLateCheck
        if loop.needsAuditTime {
            loop.setAudit(at: environment.clock.now + (auditor.hasNext ? .zero : try auditor.step().pause))
        }
        if watcher != nil { reporter.emit(SyncEvent(.idle, summary: try summary())) }
        reporter.conclude()
    }
}

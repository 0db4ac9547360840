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
    /// How many files that wait for a slot are recorded for `why`.
    private static let recordedWaiting = 256
    /// After how long without events memory is released.
    private static let restDelay = Duration.seconds(4)

    private let configuration: SyncConfiguration
    private let environment: SyncEnvironment
    private let executor: any SerialExecutor
    private let context: SyncContext
    private let root: MirrorRoot
    private let local: LocalReplica
    private let transfers: TransferRunner
    private let auditor: Auditor
    private let connector: RemoteConnector
    private let reporter: SyncReporter
    private let watcher: (any FolderWatcher)?
    private let inbox: SyncInbox

    private var loop: SyncLoop
    /// The status of the run.
    private var status = SessionStatus()
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
        let control = try ControlDirectory(in: root.folder)
        let id = try root.identify(control, store)
        context = SyncContext(
            configuration, environment, store: store, root: root.folder, isWatching: watcher != nil)
        let scanner = Scanner(root: root.folder, store: store) { folder, item, isNew in
            watcher?.add(folder, item, isNew: isNew)
        }
        local = LocalReplica(context, control, scanner)
        transfers = TransferRunner(context, control, local.reader, local.installer, inbox)
        auditor = Auditor(context)
        connector = RemoteConnector(
            RemoteTree(context, remote, scanner), OperationIDs(mirror: id, at: environment.disk.now()))
        reporter = SyncReporter(onEvent)
        loop = SyncLoop(configuration)
    }

    /// Closes the database; nothing may be asked of the session after.
    func close() throws {
        transfers.cancel()
        polling?.cancel()
        auditing?.cancel()
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
            let step = loop.next(at: environment.clock.now)
            if case .end = step { return status.outcome }
            var report = SyncReport()
            do {
                do {
                    try await perform(step, &report)
                } catch {
                    reporter.emit(report.emissions)
                    try? record(loop.note(report, at: environment.clock.now))
                    throw error
                }
                reporter.emit(report.emissions)
                try record(loop.did(step, report, slots: transfers.slots, at: environment.clock.now))
            } catch {
                try await recover(from: SyncError.wrapping(error), in: step)
            }
        }
    }

    /// What a sync did, and what is left.
    func summary() throws -> SyncSummary {
        var summary = reporter.summary
        let problems = try store.problems()
        let waiting = try loop.retries.waiting.sorted().map { try store.shownPath(of: $0) }
        for path in waiting where !problems.contains(where: { $0.path == path }) {
            reporter.emitOnce(SyncEvent(.problem, path: path, message: "it is being written; the next sync takes it"))
            summary.problems += 1
        }
        for path in try loop.transfers.scheduled.sorted().map({ try store.shownPath(of: $0) }) {
            reporter.emitOnce(
                SyncEvent(.problem, path: path, message: "large files wait until the schedule allows their transfer"))
            summary.problems += 1
        }
        let rules = local.scope.heldRules
        summary.held = status.outcome.held
        summary.heldByRules = rules?.entries ?? 0
        summary.problems += problems.count
        summary.isComplete =
            summary.held == 0 && rules == nil && summary.problems == 0 && status.outcome.pausedUntil == nil
        summary.ignored = try local.scope.ignored()
        return summary
    }

    /// The first protocol violation of the server about a single entry; nil when there was none.
    var breach: RemoteError? { status.breach }

    /// Emits an event.
    func emit(_ event: SyncEvent) { reporter.emit(event) }

    // MARK: Between steps

    private func receive(_ event: SessionEvent) {
        if case .transferProgressed(let item, let progress) = event { note(progress, of: item) }
        loop.receive(event, at: environment.clock.now)
    }

    private func note(_ progress: TransferProgress, of item: ItemID) {
        guard loop.transfers.contains(item), let path = try? store.shownPath(of: item) else { return }
        reporter.emitProgress(path, progress)
        guard progress.completed >= status.nextProgress[item] ?? SessionStatus.progressStep else { return }
        status.nextProgress[item] = progress.completed + SessionStatus.progressStep
        // Best effort: without it, a status query shows less.
        try? recordWaiting()
    }

    /// Reports items that wait since they were refused too often.
    private func record(_ problems: [(result: SyncReport.Outcome, delay: Duration)]) throws {
        for (result, delay) in problems {
            guard case .refused(let message, _, let isBreach) = result.outcome else { continue }
            if isBreach { status.breach = status.breach ?? RemoteError(.protocolViolation, message) }
            let path = try store.shownPath(of: result.item)
            let problem = ProblemRecord(
                path: path, item: result.item, message: message, isFromScan: false,
                nextAttempt: context.seconds + delay.components.seconds)
            try store.setProblem(problem, path: path)
            reporter.emitOnce(SyncEvent(.problem, path: path, message: message))
        }
    }

    /// Continues after a transient failure.
    private func recover(from error: SyncError, in step: SyncLoop.Step) async throws(SyncError) {
        connector.replica?.abandonPull()
        var report = SyncReport()
        try? await local.bulk.settle(&report)
        reporter.emit(report.emissions)
        try? store.note(obstacle: error, at: context.seconds)
        status.hasObstacle = true
        let delay = try loop.failed(step, error, at: environment.clock.now)
        let next = context.seconds + max(1, delay.components.seconds)
        reporter.emit(SyncEvent(.problem, message: error.message, until: next))
    }

    // MARK: Steps

    private func perform(_ step: SyncLoop.Step, _ report: inout SyncReport) async throws {
        // Folders may have been moved since the last scan.
        context.handles.forgetAll()
        switch step {
        case .recover: try local.recover(besides: loop.transfers.items.union(local.bulk.items), &report)
        case .check(let reloads): try await check(reloads, &report)
        case .finish(let item, let result):
            status.nextProgress[item] = nil
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
            try await fetcher().installInline(missing: loop.rescans.missing, local.mover, &report)
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
        let replica = try await connector.connect()
        replica.tree.refused = loop.retries.refused
        return replica
    }

    private func fetcher() async throws -> ContentFetcher { ContentFetcher(context, try await replica(), local.bulk) }

    private func check(_ reloads: Bool, _ report: inout SyncReport) async throws {
        if let until = try pausedUntil() { return try await pause(until, &report) }
        loop.setPause(nil, at: environment.clock.now)
        status.outcome.pausedUntil = nil
        try root.check(store)
        try local.trash.catchLateWrites(&report)
        local.deleter.begin()
        if try reloads || local.scope.isStale(), try local.scope.reload(&loop.deletions, &report) {
            loop.rulesChanged(at: environment.clock.now)
        }
    }

    /// Until when syncing is paused, in seconds since 1970; nil when it is not.
    private func pausedUntil() throws -> Int64? {
        guard let text = try store.meta(.pausedUntil) else { return nil }
        if text == "forever" { return .max }
        guard let until = Int64(text), until > context.seconds else {
            try store.setMeta(.pausedUntil, nil)
            return nil
        }
        return until
    }

    private func pause(_ until: Int64, _ report: inout SyncReport) async throws {
        // When syncing continues, no scan may find contents that are being installed.
        connector.replica?.abandonPull()
        try await local.bulk.settle(&report)
        if until != status.outcome.pausedUntil, watcher != nil { reporter.emit(SyncEvent(pausedUntil: until)) }
        status.outcome.pausedUntil = until
        let rest: Duration = until == .max ? .seconds(10) : .seconds(until - context.seconds)
        loop.setPause(rest, at: environment.clock.now)
    }

    private func scan(_ request: ScanRequest, _ report: inout SyncReport) throws {
        let start = environment.clock.now
        try attend(request)
        let again = loop.rescans.begin(request, at: start)
        let found = try local.scan(request, &report)
        try noteWatching()
        loop.scanned(
            request, found, again: again, unwatched: watcher?.unwatched(of: found.racyFolders) ?? [],
            lasting: environment.clock.now - start, at: environment.clock.now)
    }

    /// Retries files that were being written in folders that have changed since, and stops watching folders that have
    /// left the mirror.
    private func attend(_ request: ScanRequest) throws {
        let folders: Set<ItemID>
        switch request {
        case .files(let closed): folders = Set(closed.keys)
        case .folders(let scanned): folders = scanned
        case .everything: return
        }
        let written = try loop.retries.beingWritten.keys.sorted().filter { id in
            try store.item(id)?.local.map { folders.contains($0.location.parent) } ?? true
        }
        loop.attend(written)
        if let watcher {
            watcher.remove(try folders.sorted().filter { try $0 != .root && store.item($0)?.local == nil })
        }
    }

    /// Reports when folders cannot be watched, and when they can again.
    private func noteWatching() throws {
        guard let watcher, watcher.problem != status.watching else { return }
        let problem = watcher.problem
        if status.watching == nil, let problem { reporter.emit(SyncEvent(.problem, message: problem)) }
        status.watching = problem
        loop.setWatched(problem == nil, at: environment.clock.now)
        try store.setMeta(.watching, problem)
    }

    private func pull(_ report: inout SyncReport) async throws {
        do {
            let replica = try await replica()
            let result = try await replica.pull(&report)
            if result == .end { try await ContentFetcher(context, replica, local.bulk).settle(&report) }
            loop.pulled(result)
        } catch {
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
        try recordWaiting()
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
        if !status.hasRested, deadline.map({ $0 > rest }) ?? true, loop.transfers.isEmpty, watcher != nil {
            try await inbox.wait(until: rest, environment)
            if environment.clock.now >= rest {
                status.hasRested = true
                try store.rest()
            }
            return
        }
        try await inbox.wait(until: deadline, environment)
    }

    // MARK: Rounds

    /// Plans a slice of the unsettled items and carries the plan out; deletions are checked with the last slice.
    private func sync(after last: ItemID?, _ report: inout SyncReport) async throws {
        status.hasRested = false
        if let until = try pausedUntil() { return try await pause(until, &report) }
        if last == nil { try root.check(store) }
        let slice = try store.unsettled(after: last, limit: Self.sliceSize)
        report.last = slice.last?.id ?? .root
        try await plan(slice, &report)
    }

    /// Plans some items alone, and carries the plan out.
    private func settle(_ items: Set<ItemID>, _ report: inout SyncReport) async throws {
        status.hasRested = false
        try root.check(store)
        try await plan(try items.sorted().compactMap { try store.item($0) }.filter { !$0.isSettled }, &report)
        // What one plan does not settle is a round's.
        let travelling = loop.transfers.items.union(report.transfers.map(\.item))
        let isLeft = try items.contains { try !travelling.contains($0) && store.item($0)?.isSettled != true }
        if isLeft { report.hasChanges = true }
    }

    /// Plans items that may be planned now, and carries the plan out except for its deletions.
    private func plan(_ items: [Item], _ report: inout SyncReport) async throws {
        let now = environment.clock.now
        let ids = items.filter { $0.remote?.isUnverified != true }.map(\.id)
            .filter { !loop.transfers.contains($0) && !loop.retries.isWaiting($0, at: now) }
        if ids.isEmpty { return }
        let plan = try readAndPlan(ids, &report)
        for batch in plan.batches {
            report.deletions += batch.filter(\.isDeletion).map(\.item)
            try await carryOut(batch.filter { !$0.isDeletion }, &report)
        }
    }

    /// Reads the files that the planner must know, and plans.
    private func readAndPlan(_ ids: [ItemID], _ report: inout SyncReport) throws -> Plan {
        let view = UnconfirmedView(base: store, unconfirmed: loop.rescans.missing)
        var plan = try store.reading { try Planner.plan(ids, in: view) }
        var tried: Set<ItemID> = []
        for _ in 0..<4 {
            let now = environment.clock.now
            let unread = plan.unread.filter {
                !loop.transfers.contains($0) && !loop.retries.isWaiting($0, at: now) && tried.insert($0).inserted
            }
            if unread.isEmpty { break }
            let count = try local.reader.readUnread(unread, &report)
            if count == 0 { break }
            report.done += count
            plan = try Planner.plan(ids, in: view)
        }
        context.decided(plan.rules)
        return plan
    }

    /// Carries out operations that commute.
    private func carryOut(_ operations: [PlannedOperation], _ report: inout SyncReport) async throws {
        if operations.isEmpty { return }
        try keepBooks(operations, &report)
        var remote: [PlannedOperation] = []
        var folders: [(item: ItemID, location: Location)] = []
        var downloads: [(item: ItemID, location: Location)] = []
        for operation in operations {
            switch operation {
            case .adopt, .forget, .resurrect, .linkIdentity, .trash, .deleteRemote: break
            case .makeFolder(let id, let location): folders.append((id, location))
            case .moveLocal(let id, let location): try local.mover.move(id, to: location, &report)
            case .download(let id, let location): downloads.append((id, location))
            case .resolveContent(let id, let name): try await resolve(id, name, &report)
            case .makeRemoteFolder, .upload, .moveRemote: remote.append(operation)
            }
        }
        try local.mover.makeFolders(folders, &report)
        if !downloads.isEmpty { try await fetcher().fetch(downloads, &report) }
        if report.failure == nil, !remote.isEmpty { try await replica().write(remote, local.reader, &report) }
    }

    /// Carries out bookkeeping operations, which have no effect on either side.
    private func keepBooks(_ operations: [PlannedOperation], _ report: inout SyncReport) throws {
        let books = operations.filter(\.isBookkeeping)
        if books.isEmpty { return }
        let linked = try store.edit(durably: true) { editor in
            var linked: [(new: ItemID, known: ItemID)] = []
            for operation in books {
                let isChange: Bool
                switch operation {
                case .adopt(let id): isChange = try editor.markSynced(id)
                case .forget(let id), .resurrect(let id): isChange = try editor.forgetBase(id)
                case .linkIdentity(let new, let known):
                    isChange = try editor.link(new, into: known)
                    if isChange { linked.append((new, known)) }
                default: continue
                }
                // Operations that change nothing would be planned and done for ever.
                if isChange { report.done += 1 }
            }
            return linked
        }
        for (new, known) in linked {
            context.handles.forget(new)
            if context.isWatching, try store.item(known)?.isFolder == true { report.rescans.insert(known) }
        }
    }

    private func resolve(_ id: ItemID, _ name: EntryName, _ report: inout SyncReport) async throws {
        do {
            let replica = try await replica()
            let resolver = ContentResolver(
                context: context, reader: local.reader, installer: local.installer, copier: local.copier,
                fetcher: ContentFetcher(context, replica, local.bulk), replica: replica)
            try await resolver.resolve(id, conflictName: name, &report)
        } catch let error as RemoteError {
            try report.judge(error, about: [id])
        }
    }

    /// Checks the deletions that the round has planned and that are still due, and carries out those that are allowed.
    private func delete(_ items: [ItemID], _ report: inout SyncReport) async throws {
        if let until = try pausedUntil() { return try await pause(until, &report) }
        if !items.isEmpty { try root.check(store) }
        let view = UnconfirmedView(base: store, unconfirmed: loop.rescans.missing)
        let wanted =
            try items.isEmpty
            ? [] : store.reading { try Planner.plan(items, in: view).operations.filter(\.isDeletion) }
        let now = environment.clock.now
        let candidates = try wanted.map { operation in
            let weight = if case .deleteRemote(let id) = operation { try store.remoteCount(id) } else { 1 }
            return DeletionGuard.Candidate(operation: operation, weight: weight)
        }
        let verdict = loop.deletions.judge(
            candidates, of: try store.syncedCount(), approved: try approvedDeletions(),
            isSettling: loop.isSettling(at: now), at: now)
        try record(verdict)
        try local.deleter.delete(
            verdict.allowed.compactMap { if case .trash(let id) = $0 { id } else { nil } }, &report)
        let remote = verdict.allowed.filter { if case .deleteRemote = $0 { true } else { false } }
        if !remote.isEmpty { try await replica().write(remote, local.reader, &report) }
        if loop.isFeedRead { connector.replica?.inlineContents.clear() }
    }

    private func approvedDeletions() throws -> Set<ItemID> {
        Set(try store.records(ApprovedDeletion.self).map(\.item))
    }

    /// Records and reports the held deletions.
    private func record(_ verdict: DeletionGuard.Verdict) throws {
        status.outcome.held = verdict.heldWeight
        let known = try store.heldDeletions()
        if verdict.held.isEmpty {
            if !known.isEmpty { try store.setHeldDeletions([]) }
            // Those that were approved are carried out by now.
            if !verdict.usesApproval { try store.replace([ApprovedDeletion]()) }
            return
        }
        let since = Dictionary(known.map { ($0.item, $0.since) }, uniquingKeysWith: min)
        var held: [HeldDeletionRecord] = []
        for operation in verdict.held {
            let side: Side = if case .trash = operation { .local } else { .remote }
            held.append(
                HeldDeletionRecord(
                    item: operation.item, side: side, path: try store.shownPath(of: operation.item),
                    since: since[operation.item] ?? context.seconds))
        }
        held.sort { $0.path < $1.path }
        if known != held { try store.setHeldDeletions(held) }
        for deletion in held {
            reporter.emitOnce(
                SyncEvent(
                    .held, path: deletion.path,
                    message:
                        "too many deletions at once to be believed; put the files back, or see 'byteclub sync deletes review'"
                ))
        }
    }

    // MARK: Conclusion

    /// Does periodic maintenance, and records the mirror's status.
    private func conclude(_ report: inout SyncReport) throws {
        try local.maintain(&report)
        try auditor.review()
        local.reader.forgetContents()
        loop.retries.forget(try loop.retries.all.sorted().filter { try store.item($0)?.isSettled ?? true })
        let problems = try store.problems()
        for problem in problems {
            reporter.emitOnce(SyncEvent(.problem, path: problem.path, message: problem.message))
            // An item that is settled or gone has no problem any more.
            guard !problem.isFromScan, let id = problem.item, try store.item(id)?.isSettled ?? true else { continue }
            try store.setProblem(nil, path: problem.path)
        }
        try recordWaiting()
        if status.hasObstacle || !status.isObstacleKnown {
            try store.replace([ObstacleRecord]())
            (status.hasObstacle, status.isObstacleKnown) = (false, true)
        }
        let isDone =
            problems.isEmpty && loop.retries.waiting.isEmpty && loop.transfers.isEmpty
            && loop.transfers.scheduled.isEmpty
        if isDone, status.outcome.held == 0, local.scope.heldRules == nil { try stamp() }
        if loop.needsAuditTime {
            loop.setAudit(at: environment.clock.now + (auditor.hasNext ? .zero : try auditor.step().pause))
        }
        if watcher != nil { reporter.emit(SyncEvent(.idle, summary: try summary())) }
    }

    /// Records the time at which both sides agree, at most once a second.
    private func stamp() throws {
        let now = context.seconds
        if let last = status.lastSync, now - last < 2, now >= last { return }
        status.lastSync = now
        try store.setMetaLater(.lastSync, "\(now)")
    }

    /// Records the items that wait or are being transferred without a problem.
    private func recordWaiting() throws {
        let limit = Self.recordedWaiting
        var waiting = loop.transfers.bytesTransferred.map { WaitingItem($0.key, .underWay(bytes: $0.value)) }
        waiting += loop.transfers.queued.sorted().prefix(limit).map { WaitingItem($0, .queued) }
        waiting += loop.transfers.scheduled.sorted().prefix(limit).map { WaitingItem($0, .scheduled) }
        let now = environment.clock.now
        for (item, until) in loop.retries.beingWritten where until > now {
            waiting.append(WaitingItem(item, .written(until: context.seconds + (until - now).components.seconds)))
        }
        // The first outcome of an item counts.
        let unique = Dictionary(waiting.map { ($0.item, $0) }, uniquingKeysWith: { first, _ in first })
        if try unique.isEmpty && store.records(WaitingItem.self).isEmpty { return }
        try store.transaction(durably: false) { try store.replace(unique.values.sorted { $0.item < $1.item }) }
    }
}

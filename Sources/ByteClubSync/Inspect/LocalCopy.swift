import ByteClubCore

/// The mirror as its disk is now, in a copy of its state: it has no control directory, so it can write nothing.
final class LocalCopy {
    let context: SyncContext
    let scanner: Scanner
    /// What names the mirror.
    let id: String
    private let reader: FileReader
    private let scope: SyncScope
    private var desk: DeletionDesk

    /// Takes a copy of the mirror's state, which whoever gives it closes.
    init(_ configuration: SyncConfiguration, _ environment: SyncEnvironment, _ store: any TreeStore) throws {
        let root = try MirrorRoot(configuration, environment, store, isDryRun: true)
        id = try root.identify(nil, store)
        context = SyncContext(configuration, environment, store: store, root: root.folder, isWatching: false)
        scanner = Scanner(root: root.folder, store: store)
        scanner.approvesDeletions = configuration.approvesDeletions
        reader = FileReader(context, scanner)
        scope = SyncScope(context, scanner)
        desk = try DeletionDesk(context)
    }

    /// Scans everything.
    func scan() throws {
        var report = SyncReport()
        _ = try scope.reload(&desk.deletions, &report)
        _ = try scanner.scan(.everything, confirmsDeletions: true)
    }

    /// Which of the planned deletions the guard would hold.
    func judge(_ planned: [PlannedOperation]) throws -> DeletionGuard.Verdict {
        try desk.judge(planned, isSettling: false)
    }

    /// Plans all unsettled items; `take` gets the plan of each slice, with the items.
    ///
    /// Unless `isReading`, files that the planner needs to know are left unread.
    func plan(isReading: Bool = true, _ take: (Plan, [Item]) throws -> Void) throws {
        var report = SyncReport()
        var chunks = UnsettledChunks(context.store, of: 4_096)
        while let chunk = try chunks.next() {
            let ids = chunk.filter { $0.remote?.isUnverified != true }.map(\.id)
            var plan = try Planner.plan(ids, in: context.store, naming: context.naming)
            for _ in 0..<4 where isReading && !plan.unread.isEmpty {
                var count = 0
                for id in plan.unread where try reader.hash(id, &report) { count += 1 }
                if count == 0 { break }
                plan = try Planner.plan(ids, in: context.store, naming: context.naming)
            }
            try take(plan, chunk)
        }
    }
}

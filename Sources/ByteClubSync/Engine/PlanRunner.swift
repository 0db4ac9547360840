import ByteClubCore

/// Plans items and carries plans out on both sides; deletions are left to the end of the round.
struct PlanRunner {
    let context: SyncContext
    let local: LocalReplica
    let connector: RemoteConnector

    private var store: any TreeStore { context.store }

    /// Plans items, reads the files that the planner must know, and carries the plan out except for its deletions.
    ///
    /// `busy` are items that are being transferred or wait for a retry; nothing is decided about `unconfirmed` ones.
    func run(
        _ items: [Item], besides busy: Set<ItemID>, unconfirmed: Set<ItemID>, _ report: inout SyncReport
    ) async throws {
        let ids = items.filter { $0.remote?.isUnverified != true }.map(\.id).filter { !busy.contains($0) }
        if ids.isEmpty { return }
        let plan = try readAndPlan(ids, besides: busy, UnconfirmedView(base: store, unconfirmed: unconfirmed), &report)
        for batch in try BlockedNames(store).allowed(of: plan.batches) {
            report.deletions += batch.filter(\.isDeletion).map(\.item)
            try await carryOut(batch.filter { !$0.isDeletion }, &report)
        }
    }

    private func readAndPlan(
        _ ids: [ItemID], besides busy: Set<ItemID>, _ view: UnconfirmedView, _ report: inout SyncReport
    ) throws -> Plan {
        var plan = try store.reading { try Planner.plan(ids, in: view) }
        var tried: Set<ItemID> = []
        for _ in 0..<4 {
            let unread = plan.unread.filter { !busy.contains($0) && tried.insert($0).inserted }
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
        if !downloads.isEmpty {
            let fetcher = ContentFetcher(context, try await connector.connect(), local.bulk)
            try await fetcher.fetch(downloads, &report)
        }
        if report.failure == nil, !remote.isEmpty {
            try await connector.connect().write(remote, local.reader, &report)
        }
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
            if context.isWatching, try store.item(known)?.isFolder == true { report.newFolders.insert(known) }
        }
    }

    private func resolve(_ id: ItemID, _ name: EntryName, _ report: inout SyncReport) async throws {
        do {
            let replica = try await connector.connect()
            let resolver = ContentResolver(
                context: context, reader: local.reader, installer: local.installer, copier: local.copier,
                fetcher: ContentFetcher(context, replica, local.bulk), replica: replica)
            try await resolver.resolve(id, conflictName: name, &report)
        } catch let error as RemoteError {
            try report.judge(error, about: [id])
        }
    }
}

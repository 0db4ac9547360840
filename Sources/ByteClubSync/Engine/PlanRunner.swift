import ByteClubCore

/// Plans items and carries plans out on both sides; deletions are left to the end of the round.
struct PlanRunner {
    let context: SyncContext
    let local: LocalReplica
    let connector: RemoteConnector

    private var store: any TreeStore { context.store }

    /// The fetcher of the server's contents; asks the server for its powers the first time.
    func fetcher() async throws(RemoteError) -> ContentFetcher {
        ContentFetcher(context: context, replica: try await connector.connect(), local: local)
    }

    /// Plans items, reads the files that the planner must know, and carries the plan out except for its deletions.
    ///
    /// `busy` are items that are being transferred or wait for a retry; nothing is decided about `unconfirmed` ones.
    func run(
        _ items: [Item], besides busy: Set<ItemID>, unconfirmed: Set<ItemID>, _ report: inout SyncReport
    ) async throws {
        let ids = items.filter { $0.remote?.isUnverified != true }.map(\.id).filter { !busy.contains($0) }
        if ids.isEmpty { return }
        let limit = connector.replica?.groupedUploadBytes ?? SyncBatch.maximumInlineBytes
        let unnamed = items.filter { item in
            guard let local = item.local, local.hash == nil else { return false }
            return local.size > SyncBatch.maximumInlineBytes && local.size <= limit
        }.map(\.id)
        let plan = try await readAndPlan(
            ids, naming: Set(unnamed), upTo: limit, besides: busy,
            UnconfirmedView(base: store, unconfirmed: unconfirmed), &report)
        for batch in try BlockedNames(store).allowed(of: plan.batches) {
            report.deletions += batch.filter(\.isDeletion).map(\.item)
            try await carryOut(batch.filter { !$0.isDeletion }, &report)
        }
    }

    /// `unnamed` are files that travel in groups and have no hash yet; a group names its files by their hashes, so they
    /// are read before the upload.
    private func readAndPlan(
        _ ids: [ItemID], naming unnamed: Set<ItemID>, upTo limit: Int64, besides busy: Set<ItemID>,
        _ view: UnconfirmedView, _ report: inout SyncReport
    ) async throws -> Plan {
        var plan = try store.reading { try Planner.plan(ids, in: view, naming: context.naming) }
        var tried: Set<ItemID> = []
        for _ in 0..<4 {
            let unread = (plan.unread + plan.uploads(among: unnamed)).filter {
                !busy.contains($0) && tried.insert($0).inserted
            }
            if unread.isEmpty { break }
            let count = try await local.reader.readUnread(unread, upTo: limit, &report)
            if count == 0 { break }
            report.done += count
            plan = try Planner.plan(ids, in: view, naming: context.naming)
        }
        context.decided(plan.rules)
        return plan
    }

    /// Carries out operations that commute.
    private func carryOut(_ operations: [PlannedOperation], _ report: inout SyncReport) async throws {
        if operations.isEmpty { return }
        try keepBooks(operations, &report)
        var folders: [(item: ItemID, location: Location)] = []
        var downloads: [(item: ItemID, location: Location)] = []
        for case .disk(let id, let action) in operations {
            switch action {
            case .makeFolder(let location): folders.append((id, location))
            case .move(let location): try local.mover.move(id, to: location, &report)
            case .download(let location): downloads.append((id, location))
            case .resolveContent(let name): try await resolve(id, name, &report)
            case .trash: break  // At the end of the round, with all other deletions.
            }
        }
        try local.mover.makeFolders(folders, &report)
        if !downloads.isEmpty { try await fetcher().fetch(downloads, &report) }
        let writes = operations.compactMap(\.write)
        if report.failure == nil, !writes.isEmpty {
            try await connector.connect().write(writes, local.reader, &report)
        }
    }

    /// Carries out bookkeeping operations, which have no effect on either side.
    private func keepBooks(_ operations: [PlannedOperation], _ report: inout SyncReport) throws {
        if operations.allSatisfy({ $0.side != nil }) { return }
        let linked = try store.edit(durably: true) { editor in
            var linked: [(new: ItemID, known: ItemID)] = []
            for case .note(let id, let what) in operations {
                let isChange: Bool
                switch what {
                case .adopt: isChange = try editor.markSynced(id)
                case .forget, .resurrect: isChange = try editor.forgetBase(id)
                case .linkIdentity(let known):
                    isChange = try editor.link(id, into: known)
                    if isChange { linked.append((id, known)) }
                }
                // An operation that changes nothing does not count, or it would be planned for ever.
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
            try await fetcher().resolve(id, conflictName: name, &report)
        } catch let error as RemoteError {
            try report.judge(error, about: [id])
        }
    }
}

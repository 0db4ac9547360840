import ByteClubCore

extension Mirror {
    /// How many items are planned at once.
    private static var planSize: Int { 4_096 }

    /// Plans and does all that can be done now; deletions come last, when they have been counted.
    ///
    /// `sparing` leaves deletions on the server for later: the disk is changing, and what is gone may turn up again.
    func round(sparing: Bool) async throws -> Progress {
        var progress = Progress()
        var deletions: [Operation] = []
        let now = surroundings.uptime()
        hasSpared = false
        var chunks = UnsettledChunks(store, of: Self.planSize)
        while let chunk = try chunks.next() {
            // Deletions are only counted when all is planned.
            if try pausedUntil() != nil { return progress }
            let ids = chunk.filter { $0.remote?.isDoubtful != true }.map(\.id)
                .filter { transfers[$0] == nil && (busy[$0]?.until ?? now) <= now }
            if ids.isEmpty { continue }
            let plan = try readAndPlan(ids, &progress)
            for batch in plan.batches {
                deletions += batch.filter(\.isDeletion)
                progress.add(try await carryOut(batch.filter { !$0.isDeletion }))
            }
        }
        let allowed = try guarded(deletions, sparing: sparing)
        progress.done += try discard(allowed.compactMap { if case .discard(let id) = $0 { id } else { nil } })
        let remote = allowed.filter { if case .deleteRemote = $0 { true } else { false } }
        if progress.failure == nil { progress.add(try await send(remote)) }
        return progress
    }

    /// Reads the files that the planner must know, and plans.
    func readAndPlan(_ ids: [ItemID], _ progress: inout Progress) throws -> Plan {
        let view = UnconfirmedView(base: store, unconfirmed: unconfirmed)
        var plan = try store.reading { try Planner.plan(ids, in: view) }
        for _ in 0..<4 where !plan.unread.isEmpty {
            var count = 0
            for id in plan.unread where try read(id) { count += 1 }
            if count == 0 { break }
            progress.done += count
            plan = try Planner.plan(ids, in: view)
        }
        // Only what is done next is told with its rule.
        if decided.count > 4 * Self.planSize { decided = [:] }
        decided.merge(plan.rules) { $1 }
        return plan
    }

    /// Reads a file's content, so that it can be compared; false when that must wait.
    private func read(_ id: ItemID) throws -> Bool {
        if let later = busy[id], later.until > surroundings.uptime() { return false }
        switch try scanner.readHash(of: id) {
        case .content(let hash, let look):
            busy[id] = nil
            guard var item = try store.item(id), let local = item.local else { return false }
            guard local.look?.handle == look.handle else {
                suspects.insert(local.place.parent)
                return false
            }
            item.local?.hash = hash
            item.local?.size = look.fingerprint.size
            item.local?.look = look
            try store.save(item)
            return true
        case .busy: postpone(id)
        case .vanished: if let local = try store.item(id)?.local { suspects.insert(local.place.parent) }
        case .problem(let error): try note(error, about: id)
        }
        return false
    }

    /// Does operations that commute.
    private func carryOut(_ operations: [Operation]) async throws -> Progress {
        var progress = Progress(done: try keepBooks(operations))
        var remote: [Operation] = []
        var folders: [(item: ItemID, place: Place)] = []
        var downloads: [(item: ItemID, place: Place)] = []
        for operation in operations {
            switch operation {
            case .adopt, .forget, .revoke, .unify, .discard, .deleteRemote: break
            case .makeFolder(let id, let place): folders.append((id, place))
            case .moveLocal(let id, let place): if try moved(id, to: place) { progress.done += 1 }
            case .download(let id, let place): downloads.append((id, place))
            case .reconcile(let id, let name):
                do throws(RemoteError) {
                    if try await reconciled(id, name) { progress.done += 1 }
                } catch {
                    progress.add(try judge(error, about: [id]))
                }
            case .makeRemoteFolder, .upload, .moveRemote: remote.append(operation)
            }
        }
        progress.done += try makeFolders(folders)
        progress.add(try await receive(downloads))
        if progress.failure == nil { progress.add(try await send(remote)) }
        return progress
    }

    /// Moves an entry on the disk; one that made room for another's name is a conflict that people are told of.
    private func moved(_ id: ItemID, to place: Place) throws -> Bool {
        let before = try path(of: id, on: .local)
        guard try move(id, to: place) else { return false }
        guard decided[id] == .nameClash, ConflictName.isCopy(place.name.text) else { return true }
        let copy = try path(of: id, on: .local)
        try store.addConflict(
            ConflictRecord(path: before, copy: copy, winner: nil, loser: try store.item(id)?.local?.hash, at: seconds))
        tally.note(SyncEvent(.conflict, path: before, copy: copy, message: "another entry has the name; both are kept"))
        return true
    }

    private func reconciled(_ id: ItemID, _ name: EntryName) async throws(RemoteError) -> Bool {
        do {
            return try await reconcile(id, conflictName: name)
        } catch let error as RemoteError {
            throw error
        } catch {
            transferFailure = transferFailure ?? error
            return false
        }
    }

    /// Sends writes in the way that the server takes.
    func send(_ operations: [Operation]) async throws -> Progress {
        if operations.isEmpty { return Progress() }
        guard try await knownFeatures().sync, let remote = remote as? any SyncRemote else {
            return try await sendCalls(operations)
        }
        if rootNode == nil {
            try await makeRootFolder()
            return Progress()
        }
        return try await sendBatches(operations, to: remote)
    }

    /// Makes the mirrored folder on the server, and has the feed tell what it is called.
    private func makeRootFolder() async throws {
        isFeedStale = true
        do throws(RemoteError) {
            _ = try await remote.createFolder(configuration.remoteRoot)
        } catch {
            guard error.code == .forbidden || error.code == .conflict else { throw error }
        }
    }
}

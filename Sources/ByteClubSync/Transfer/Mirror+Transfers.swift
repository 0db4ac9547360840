import ByteClubCore

extension Mirror {
    /// How many large files travel at once, beside the notes.
    static var parallelTransfers: Int { 3 }

    /// Starts to send a large file on a way of its own, unless it is under way; true, so that nobody else sends it.
    func startUpload(_ item: Item) throws -> Bool {
        start(item.id) { mirror in try await mirror.upload(item.id) }
        return true
    }

    /// Starts to get a large file on a way of its own, unless it is under way.
    func startDownload(_ id: ItemID, to place: Place) {
        start(id) { mirror in try await mirror.download(id, to: place) }
    }

    private func start(_ id: ItemID, _ work: @escaping @Sendable (isolated Mirror) async throws -> Bool) {
        if transfers[id] != nil { return }
        let places = transferPlaces
        if places == 0 { scheduled.insert(id) }
        guard transfers.count < places else {
            if places > 0 { queued.insert(id) }
            return
        }
        queued.remove(id)
        transfers[id] = Task(executorPreference: surroundings.workers) { [weak self] in await self?.run(id, work) }
    }

    private func run(_ id: ItemID, _ work: @escaping @Sendable (isolated Mirror) async throws -> Bool) async {
        do {
            if try await work(self) { transferred += 1 }
        } catch let error as RemoteError {
            do {
                let progress = try judge(Self.breach(error), about: [id])
                if progress.failure != nil { try refuse(id, error.message) }
            } catch {
                transferFailure = transferFailure ?? error
            }
        } catch {
            do { try note(error, about: id) } catch { transferFailure = transferFailure ?? error }
        }
        transfers[id] = nil
        travelled[id] = nil
        for waiter in transferWaiters { waiter.resume() }
        transferWaiters = []
        onTransferEnd?()
    }

    /// Waits until a transfer ends; at once when there is none.
    func waitForTransfer() async {
        if transfers.isEmpty { return }
        await withCheckedContinuation { transferWaiters.append($0) }
    }

    /// Gets a large file into staging, then into its place.
    private func download(_ id: ItemID, to place: Place) async throws -> Bool {
        guard let area, let item = try store.item(id), let remote = item.remote, let hash = remote.hash else {
            isFeedStale = true
            return false
        }
        guard try hasRoom(for: remote.size, id) else { return false }
        let path = try remotePath(of: id)
        let stage = StagedName.writing(id).text
        if try area.staging.entry(stage) != nil { try area.staging.removeFile(stage) }
        var bytes: [UInt8]?
        let found: ContentHash?
        let size = remote.size
        if let folder = area.staging.path {
            let shown = try shownPath(of: id)
            let progress = telling(id, shown)
            let metadata = try await limited(.down) { [remote = self.remote] () throws(RemoteError) in
                try await remote.download(
                    path, revision: nil, limit: size, to: folder + "/" + stage, progress: progress)
            }
            found = metadata.contentHash ?? hash
        } else {
            bytes = try await self.remote.content(at: path, revision: nil, range: nil, limit: Int(remote.size)).bytes
            found = bytes.map { ContentHasher.hash($0) }
        }
        guard found == hash, let now = try store.item(id), now.local == item.local, now.remote?.hash == hash else {
            if try area.staging.entry(stage) != nil { try area.staging.removeFile(stage) }
            isFeedStale = true
            if found != hash { try refuse(id, Self.anotherContent, isBreach: true) }
            return false
        }
        let received = try install([Incoming(item: now, place: place, remote: remote, hash: hash, bytes: bytes)])
        for one in received { try tell(.download, one.incoming.item, bytes: one.incoming.size) }
        return !received.isEmpty
    }

    /// Whether the disk has room for so many bytes beyond the reserve; a problem of the item otherwise.
    func hasRoom(for bytes: Int64, _ id: ItemID) throws -> Bool {
        let (free, total) = try root.room()
        // A small disk would have nothing but its reserve.
        let reserve = min(configuration.diskReserve, total / 50)
        if free - bytes >= reserve { return true }
        try refuse(
            id, "the disk is nearly full: \(HumanSize.text(free)) are left, and \(HumanSize.text(reserve)) stay free",
            isFinal: true)
        return false
    }
}

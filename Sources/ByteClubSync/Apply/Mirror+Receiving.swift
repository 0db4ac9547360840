import ByteClubCore

extension Mirror {
    /// The most bytes of contents that are held in memory at once.
    private static var groupBytes: Int64 { 4 << 20 }
    private static var groupFiles: Int { 2_000 }

    /// Gets contents from the server to the disk; large ones go a way of their own.
    func receive(_ wanted: [(item: ItemID, place: Place)]) async throws -> Progress {
        do {
            var progress = try await receiveGroups(wanted)
            progress.done += try await settleLandings()
            return progress
        } catch {
            _ = try? await settleLandings()
            throw error
        }
    }

    /// Gets contents from the server; what is under way to the disk at the end is still to be settled.
    private func receiveGroups(_ wanted: [(item: ItemID, place: Place)]) async throws -> Progress {
        var progress = Progress()
        var rest = wanted[...]
        while !rest.isEmpty, progress.failure == nil {
            var group: [(item: Item, place: Place, remote: RemoteState)] = []
            var size: Int64 = 0
            try store.reading {
                while let next = rest.first, group.count < Self.groupFiles, size < Self.groupBytes {
                    rest.removeFirst()
                    guard let item = try store.item(next.item), let remote = item.remote, !remote.isFolder else {
                        continue
                    }
                    if remote.size > SyncBatch.maximumInlineBytes {
                        startDownload(item.id, to: next.place)
                        continue
                    }
                    size += remote.size
                    group.append((item, next.place, remote))
                }
            }
            if group.isEmpty { continue }
            guard let first = group.first, try hasRoom(for: size, first.item.id) else { break }
            progress.add(try await receive(group))
        }
        return progress
    }

    private func receive(_ group: [(item: Item, place: Place, remote: RemoteState)]) async throws -> Progress {
        var progress = Progress()
        var missing: [(item: Item, place: Place, remote: RemoteState)] = []
        var incoming: [Incoming] = []
        for one in group {
            if let hash = one.remote.hash, let bytes = arrivals.content(hash) {
                incoming.append(
                    Incoming(item: one.item, place: one.place, remote: one.remote, hash: hash, bytes: bytes))
            } else {
                missing.append(one)
            }
        }
        if !missing.isEmpty {
            let fetched = try await fetch(missing)
            progress.failure = fetched.failure
            incoming += fetched.incoming
        }
        progress.done = try await land(incoming)
        return progress
    }

    /// Asks the server for contents, several at a time.
    private func fetch(
        _ wanted: [(item: Item, place: Place, remote: RemoteState)]
    ) async throws -> (incoming: [Incoming], failure: RemoteError?) {
        var incoming: [Incoming] = []
        var failure: RemoteError?
        let remote = remote
        try await withThrowingTaskGroup(of: (Int, Result<[UInt8], RemoteError>).self) { group in
            var next = 0
            var underWay = 0
            while true {
                while underWay < configuration.parallelTransfers, next < wanted.count, failure == nil {
                    let index = next
                    let (path, limit) = (try remotePath(of: wanted[index].item.id), Int(wanted[index].remote.size))
                    next += 1
                    underWay += 1
                    group.addTask { await (index, Self.content(at: path, limit: limit, remote)) }
                }
                guard let (index, result) = try await group.next() else { return }
                underWay -= 1
                let one = wanted[index]
                switch result {
                case .success(let bytes):
                    let hash = ContentHasher.hash(bytes)
                    guard one.remote.hash == nil || hash == one.remote.hash else {
                        isFeedStale = true
                        try refuse(one.item.id, Self.anotherContent, isBreach: true)
                        continue
                    }
                    incoming.append(
                        Incoming(item: one.item, place: one.place, remote: one.remote, hash: hash, bytes: bytes))
                case .failure(let error):
                    let passing = try judge(Self.breach(error), about: [one.item.id]).failure
                    failure = failure ?? passing
                }
            }
        }
        return (incoming, failure)
    }

    static let anotherContent = "the server sent another content than it tells of"

    /// What a failure to get a content is to a sync: more bytes than the feed told of are none that it may have.
    static func breach(_ error: RemoteError) -> RemoteError {
        error.code == .tooLarge
            ? RemoteError(.protocolViolation, "the server sends more bytes than it tells of") : error
    }

    private static func content(
        at path: RemotePath, limit: Int, _ remote: any Remote
    ) async -> Result<[UInt8], RemoteError> {
        do throws(RemoteError) {
            return .success(try await remote.content(at: path, revision: nil, range: nil, limit: limit).bytes)
        } catch {
            return .failure(error)
        }
    }

    /// The content that the server shows of an item now; nil when it is another than the tree says.
    func remoteContent(of item: Item, _ remote: RemoteState) async throws -> [UInt8]? {
        if let hash = remote.hash, let bytes = arrivals.content(hash) { return bytes }
        let path = try remotePath(of: item.id)
        do throws(RemoteError) {
            let bytes = try await self.remote.content(
                at: path, revision: nil, range: nil, limit: TextMerge.limit
            ).bytes
            if remote.hash == nil || ContentHasher.hash(bytes) == remote.hash { return bytes }
        } catch {
            if error.isRetryable || error.code == .cancelled || error.code == .unauthorized { throw error }
        }
        isFeedStale = true
        return nil
    }

    /// Brings contents that came along with a part of the feed to the disk, before the next part comes.
    func receiveArrivals() async throws {
        if area == nil { return arrivals.clear() }
        let underWay = landingItems
        var chunks = UnsettledChunks(store, of: 4_096)
        while let chunk = try chunks.next() {
            let new = chunk.filter {
                $0.local == nil && $0.synced == nil && $0.remote != nil && !underWay.contains($0.id)
            }.map(\.id)
            if new.isEmpty { continue }
            let plan = try store.reading {
                try Planner.plan(new, in: UnconfirmedView(base: store, unconfirmed: unconfirmed))
            }
            for batch in plan.batches {
                _ = try makeFolders(
                    batch.compactMap { if case .makeFolder(let id, let place) = $0 { (id, place) } else { nil } })
                let ready = try store.reading {
                    try batch.compactMap { operation -> (item: ItemID, place: Place)? in
                        guard case .download(let id, let place) = operation,
                            let hash = try store.item(id)?.remote?.hash, arrivals.content(hash) != nil
                        else { return nil }
                        return (id, place)
                    }
                }
                _ = try await receiveGroups(ready)
            }
        }
        arrivals.clear()
    }
}

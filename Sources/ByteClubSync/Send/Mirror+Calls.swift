import ByteClubCore

extension Mirror {
    /// Sends writes one call each, several at a time: what a server without the extension takes.
    func sendCalls(_ operations: [Operation]) async throws -> Progress {
        var progress = Progress()
        for group in Self.grouped(operations) where !hasUnansweredMove {
            progress.add(try await sendGroup(group))
            if progress.failure != nil { break }
        }
        return progress
    }

    /// Folders and moves one after the other, since they may depend on each other; contents and deletions side by side.
    private static func grouped(_ operations: [Operation]) -> [ArraySlice<Operation>] {
        var groups: [ArraySlice<Operation>] = []
        var start = 0
        for (index, operation) in operations.enumerated() {
            let isAlone =
                switch operation {
                case .upload, .deleteRemote: false
                default: true
                }
            if isAlone {
                if start < index { groups.append(operations[start..<index]) }
                groups.append(operations[index...index])
                start = index + 1
            }
        }
        if start < operations.count { groups.append(operations[start...]) }
        return groups
    }

    private func sendGroup(_ operations: ArraySlice<Operation>) async throws -> Progress {
        try await withThrowingTaskGroup(of: (Call, Result<Metadata, RemoteError>).self) { group in
            var progress = Progress()
            var rest = operations
            var underWay = 0
            let remote = remote
            while true {
                while underWay < configuration.parallelTransfers, progress.failure == nil, let next = rest.popFirst() {
                    guard let call = try prepareCall(next) else { continue }
                    try noteSending([call.write])
                    underWay += 1
                    group.addTask { await (call, call.send(to: remote)) }
                }
                guard let (call, result) = try await group.next() else { return progress }
                underWay -= 1
                progress.add(try take(call, result))
            }
        }
    }

    private func prepareCall(_ operation: Operation) throws -> Call? {
        guard let item = try store.item(operation.item), try isStillDue(operation, item) else { return nil }
        switch operation {
        case .makeRemoteFolder:
            guard let local = item.local, item.remote == nil, try isOnServer(local.place.parent) else { return nil }
            return Call(
                write: Write(item: item.id, effect: .folder, local: local),
                verb: .folder(try remotePath(of: local.place)))
        case .upload:
            // A content goes to the path at which the server has the entry, once that is where the entry belongs.
            guard let local = item.local, item.remote?.place.isSameKey(as: local.place) ?? true,
                try isOnServer(local.place.parent),
                try local.size <= SyncBatch.maximumInlineBytes || !startUpload(item),
                let note = try readForSending(item.id, local)
            else { return nil }
            let condition: WriteCondition = item.remote.map { .parent(Revision(number: $0.revision)) } ?? .create
            let path = try item.remote == nil ? remotePath(of: local.place) : remotePath(of: item.id)
            return Call(
                write: Write(
                    item: item.id, effect: .content(note.hash, size: Int64(note.bytes.count)), local: note.local),
                verb: .put(path, note.bytes, condition))
        case .moveRemote(_, let place):
            guard item.remote != nil, try isOnServer(place.parent) else { return nil }
            pathsBefore[item.id] = try path(of: item.id, on: .remote)
            return Call(
                write: Write(item: item.id, effect: .move(place), local: nil),
                verb: .move(try remotePath(of: item.id), try remotePath(of: place)))
        case .deleteRemote:
            guard let remote = item.remote, item.local == nil else { return nil }
            if item.isFolder, hasWrittenSinceFeed {
                // By our own later revisions, what others had put into the folder before would pass for seen.
                isFeedStale = true
                return nil
            }
            pathsBefore[item.id] = try path(of: item.id, on: .remote)
            let nodes = try count(item.id)
            return Call(
                write: Write(item: item.id, effect: .delete(nodes: nodes), local: nil),
                verb: .delete(
                    try remotePath(of: item.id), seen: Revision(number: try newestRevision(remote, item.id))))
        default: return nil
        }
    }

    func isOnServer(_ folder: ItemID) throws -> Bool {
        try folder == .root || store.item(folder)?.remote != nil
    }

    /// The newest revision of an entry and all that is in it, as far as the tree knows.
    private func newestRevision(_ remote: RemoteState, _ id: ItemID) throws -> Int64 {
        var newest = remote.revision
        if remote.isFolder {
            try store.visitRemote(below: id) { newest = max(newest, $0.remote?.revision ?? 0) }
        }
        return newest
    }

    private func take(_ call: Call, _ result: Result<Metadata, RemoteError>) throws -> Progress {
        let metadata: Metadata?
        switch result {
        case .success(let told): metadata = told
        case .failure(let error):
            guard case .delete = call.write.effect, error.code == .notFound else {
                if case .move = call.verb, error.isRetryable { (hasUnansweredMove, isFeedStale) = (true, true) }
                return try judge(error, about: [call.write.item])
            }
            // Gone already: what was wanted.
            metadata = nil
        }
        try take(call.write, metadata)
        if case .put(_, let bytes, _) = call.verb, let hash = call.write.hash { surroundings.bases.keep(bytes, hash) }
        return Progress(done: 1)
    }

    /// Keeps what a write that the server has answered has done; no answer is one about an entry that is gone.
    func take(_ write: Write, _ metadata: Metadata?) throws {
        refusals[write.item] = nil
        try store.transaction(durably: true) {
            guard let item = try store.item(write.item) else { return }
            if case .delete = write.effect { return try recordDeletion(item) }
            hasWrittenSinceFeed = true
            guard let metadata else { return }
            try record(write, metadata, item)
        }
        try tell(write)
    }

    private func record(_ write: Write, _ metadata: Metadata, _ item: Item) throws {
        let parent: ItemID
        switch write.effect {
        case .move(let place): parent = place.parent
        default: parent = item.remote?.place.parent ?? write.local?.place.parent ?? .root
        }
        var remote = RemoteState(
            place: Place(parent, EntryName(metadata.path.name)), isFolder: metadata.isFolder,
            hash: metadata.contentHash, size: metadata.bytes, revision: metadata.rev?.number ?? 0)
        remote.generation = item.remote?.generation ?? 0
        if remote.hash == nil { remote.hash = item.remote?.hash }
        guard try isOnServer(parent), metadata.isFolder == item.isFolder else {
            // The feed was quicker, and the folder is gone, or another entry had come to the path: where the entry is now,
            // only a walk over everything tells.
            isFeedStale = true
            return try store.setMeta(.cursor, nil)
        }
        for other in try store.children(of: parent, key: remote.place.name.key, on: .remote) where other.id != item.id {
            // The server had the name free: what the tree has there is gone.
            try forgetRemote(other)
        }
        var item = item
        item.record(write, remote)
        if case .move = write.effect {
            if !item.isFolder { item.synced?.revision = remote.revision }
            try doubt(below: item)
        }
        try store.save(item)
    }

    /// Without identities, what was in a folder is known under its new path only when the server has told it there:
    /// somebody may have changed it at the old one just before.
    private func doubt(below folder: Item) throws {
        guard folder.isFolder else { return }
        isFeedStale = true
        try store.visitRemote(below: folder.id) { child in
            var child = child
            child.remote?.revision = RemoteState.doubtful
            try store.save(child)
        }
    }

    /// Forgets what the server had of an entry and of all that was in it.
    func forgetRemote(_ item: Item, _ note: (Item) -> Void = { _ in }) throws {
        var ids = [item.id]
        try store.visitRemote(below: item.id) { ids.append($0.id) }
        for id in ids.reversed() {
            guard var gone = try store.item(id), gone.remote != nil else { continue }
            note(gone)
            gone.remote = nil
            try store.save(gone)
        }
    }

    /// Asks the server about entries whose folder was moved and that it has not told since.
    func dispelDoubts() async throws {
        var chunks = UnsettledChunks(store, of: 1_000)
        while let chunk = try chunks.next() {
            for item in chunk {
                // With a folder that is gone, all that was in it may have gone since the chunk was read.
                guard try store.item(item.id)?.remote?.isDoubtful == true else { continue }
                let told = try await metadata(at: remotePath(of: item.id))
                guard var now = try store.item(item.id), now.remote?.isDoubtful == true else { continue }
                if let told, !told.isDeleted, told.isFolder == now.isFolder {
                    now.remote?.revision = told.rev?.number ?? 0
                    now.remote?.size = told.bytes
                    if let hash = told.contentHash { now.remote?.hash = hash }
                    try store.save(now)
                } else {
                    try store.transaction(durably: false) { try forgetRemote(now) }
                }
            }
        }
    }
}

/// One call of Core API v1 that writes, with what it was made from.
private struct Call: Sendable {
    enum Verb: Sendable {
        case folder(RemotePath)
        case put(RemotePath, [UInt8], WriteCondition)
        case move(RemotePath, RemotePath)
        case delete(RemotePath, seen: Revision)
    }

    let write: Write
    let verb: Verb

    func send(to remote: any Remote) async -> Result<Metadata, RemoteError> {
        do throws(RemoteError) {
            switch verb {
            case .folder(let path): return .success(try await remote.createFolder(path))
            case .put(let path, let bytes, let condition):
                return .success(
                    try await remote.put(.bytes(bytes), at: path, condition: condition, policy: .fail, progress: nil))
            case .move(let path, let target): return .success(try await remote.move(path, to: target))
            case .delete(let path, let seen):
                return .success(try await remote.delete(path, ifUnchangedSince: seen))
            }
        } catch {
            return .failure(error)
        }
    }
}

import ByteClubCore

extension Cycle {
    /// How many photos travel at once, beside the notes.
    private static let largeLanes = 2

    /// Sends and receives, notes and photos side by side.
    func transfer(_ steps: [Step]) async throws -> RoundProgress {
        let limit = ContentReader.smallLimit
        let uploads = steps.compactMap { step -> Transfer? in
            if case .upload(let local, let parent) = step { Transfer(local: local, parent: parent) } else { nil }
        }
        let downloads = steps.compactMap { step -> Node? in
            if case .download(let remote, _) = step { remote } else { nil }
        }
        try await mirror.expect(uploads.map(\.local))
        let width = configuration.parallelTransfers
        async let smallUploads = forEach(uploads.filter { $0.local.size <= limit }, width: width) { [self] in
            try await upload($0)
        }
        async let largeUploads = forEach(uploads.filter { $0.local.size > limit }, width: Self.largeLanes) { [self] in
            try await upload($0)
        }
        async let largeDownloads = forEach(downloads.filter { $0.size > limit }, width: Self.largeLanes) { [self] in
            try await downloadLarge($0)
        }
        var progress = try await downloadSmall(downloads.filter { $0.size <= limit })
        progress.add(try await smallUploads)
        try await mirror.flushUploads()
        progress.add(try await largeUploads)
        progress.add(try await largeDownloads)
        try await mirror.flushUploads()
        for (path, copy) in await mirror.takeMadeConflicts() {
            tally.note(SyncEvent(.conflict, path: path, copy: copy, message: "it was edited while it was replaced"))
        }
        return progress
    }

    /// A file to send, and the version that it replaces.
    private struct Transfer: Sendable {
        let local: Node
        let parent: Node?
    }

    private func upload(_ transfer: Transfer) async throws -> RoundProgress {
        let key = transfer.local.path.key
        let condition: WriteCondition
        if let parent = transfer.parent {
            guard let revision = parent.revision else { return RoundProgress() }
            condition = .parent(revision)
        } else {
            condition = .create
        }
        guard let outgoing = try await mirror.open(key) else { return RoundProgress() }
        return try await attempt(key) {
            try probe.before(.call("put \(key)"))
            let path = onServer(transfer.local.path)
            let finished: FinishedUpload
            switch outgoing {
            case .bytes(let bytes, let hash, let look):
                let metadata = try await remote.put(
                    .bytes(bytes), at: path, condition: condition, policy: .fail, progress: nil)
                try check(metadata, hash, path)
                finished = FinishedUpload(key: key, hash: hash, look: look, metadata: metadata)
            case .file(let file, let look):
                async let hashing = FileHashing.hash(of: file)
                let metadata = try await remote.put(
                    .file(path: "/proc/self/fd/\(file.number)"), at: path, condition: condition, policy: .fail,
                    progress: progressTeller(transfer.local.path))
                let hash = try await hashing
                guard Fingerprint(try file.status()) == look.fingerprint else {
                    throw RemoteError(.localFile, "'\(transfer.local.path.shown)' changed while it was sent")
                }
                try check(metadata, hash, path)
                finished = FinishedUpload(key: key, hash: hash, look: look, metadata: metadata)
            }
            try await mirror.record(finished)
            tally.note(SyncEvent(.upload, path: transfer.local.path.shown, bytes: finished.look.fingerprint.size))
        }
    }

    /// Makes sure that the server holds what was sent.
    private func check(_ metadata: Metadata, _ hash: ContentHash, _ path: RemotePath) throws(RemoteError) {
        guard metadata.path.key == path.key, metadata.contentHash.map({ $0 == hash }) ?? true else {
            throw RemoteError(.protocolViolation, "the server stored something else than was sent as '\(path)'")
        }
    }

    /// Receives notes a wave at a time; one wave is put in place while the next one comes.
    private func downloadSmall(_ nodes: [Node]) async throws -> RoundProgress {
        var progress = RoundProgress()
        var rest = nodes[...]
        var received: [Incoming] = []
        while !rest.isEmpty || !received.isEmpty {
            let wave = Self.takeWave(&rest)
            let batch = received
            async let placing = place(batch)
            let (next, part) = try await receive(wave)
            progress.add(part)
            progress.done += try await placing
            received = next
        }
        return progress
    }

    private static func takeWave(_ rest: inout ArraySlice<Node>) -> [Node] {
        var wave: [Node] = []
        var bytes: Int64 = 0
        while let node = rest.first, wave.count < 1_000, bytes < 16 << 20 {
            bytes += node.size
            wave.append(node)
            rest = rest.dropFirst()
        }
        return wave
    }

    private func receive(_ wave: [Node]) async throws -> ([Incoming], RoundProgress) {
        let arrived = Arrivals()
        var progress = try await forEach(wave, width: configuration.parallelTransfers) { [self] node in
            try await attempt(node.path.key) {
                let (bytes, metadata) = try await remote.content(
                    at: onServer(node.path), revision: node.revision, range: nil,
                    limit: Int(ContentReader.smallLimit))
                let hash = ContentHasher.hash(bytes)
                guard node.hash.map({ $0 == hash }) ?? true else {
                    throw RemoteError(
                        .protocolViolation, "the server sent other bytes than it promised for '\(node.path)'")
                }
                arrived.add(
                    Incoming(
                        remote: node, place: .bytes(bytes), hash: hash, size: Int64(bytes.count),
                        revision: node.revision ?? metadata.rev))
            }
        }
        progress.done = 0
        return (arrived.all, progress)
    }

    private func place(_ received: [Incoming]) async throws -> Int {
        if received.isEmpty { return 0 }
        let placed = try await mirror.place(received)
        for incoming in placed {
            tally.note(SyncEvent(.download, path: incoming.remote.path.shown, bytes: incoming.size))
        }
        return placed.count
    }

    private func downloadLarge(_ node: Node) async throws -> RoundProgress {
        guard let incoming = try await fetch(node) else { return RoundProgress() }
        if let failure = incoming.failure { return failure }
        guard let content = incoming.content else { return RoundProgress() }
        return RoundProgress(done: try await place([content]))
    }

    private func fetch(_ node: Node) async throws -> (content: Incoming?, failure: RoundProgress?)? {
        guard let stage = await mirror.stagePath(for: node.path.key) else { return nil }
        let arrived = Arrivals()
        let progress = try await attempt(node.path.key) {
            let metadata = try await remote.download(
                onServer(node.path), revision: node.revision, to: stage.path, progress: progressTeller(node.path))
            let known = metadata.contentHash ?? node.hash
            let hash: ContentHash
            if let known { hash = known } else { hash = try await mirror.hashStaged(stage.name) }
            arrived.add(
                Incoming(
                    remote: node, place: .staged(stage.name), hash: hash, size: metadata.bytes,
                    revision: node.revision ?? metadata.rev))
        }
        let content = arrived.all.first
        return (content, content == nil ? progress : nil)
    }

    /// Learns the hash of a server's file by receiving it.
    func learnHash(of node: Node) async throws -> RoundProgress {
        guard let stage = await mirror.stagePath(for: node.path.key) else { return RoundProgress() }
        return try await attempt(node.path.key) {
            _ = try await remote.download(onServer(node.path), revision: node.revision, to: stage.path, progress: nil)
            let hash = try await mirror.hashStaged(stage.name)
            await mirror.dropStaged(stage.name)
            try await mirror.learnRemoteHash(node.path.key, hash)
        }
    }

    private func progressTeller(_ path: RemotePath) -> @Sendable (TransferProgress) -> Void {
        { [tally] progress in
            tally.noteProgress(
                SyncEvent(.progress, path: path.shown, bytes: progress.completed, total: progress.total))
        }
    }
}

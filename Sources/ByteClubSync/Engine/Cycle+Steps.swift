import ByteClubCore
import Synchronization

/// What came of one round's steps.
struct RoundProgress: Sendable {
    /// Steps that took effect.
    var done = 0
    /// A failure that may pass by itself.
    var failure: RemoteError?

    mutating func add(_ other: RoundProgress) {
        done += other.done
        failure = failure ?? other.failure
    }
}

extension Cycle {
    /// Carries out a plan, stage after stage.
    func carryOut(_ plan: Plan) async throws -> RoundProgress {
        var progress = RoundProgress()
        if !plan.adoptions.isEmpty {
            try await mirror.adopt(plan.adoptions)
            progress.done += plan.adoptions.count
        }
        if !plan.conflicts.isEmpty { progress.add(try await settle(plan.conflicts)) }
        if !plan.folders.isEmpty { progress.add(try await makeFolders(plan.folders)) }
        if !plan.transfers.isEmpty { progress.add(try await transfer(plan.transfers)) }
        if !plan.deletions.isEmpty { progress.add(try await delete(plan.deletions)) }
        return progress
    }

    private func settle(_ conflicts: [Step]) async throws -> RoundProgress {
        var known: [Step] = []
        var progress = RoundProgress()
        for step in conflicts {
            guard case .keepBoth(let local, let remote, _) = step, !remote.isFolder, !local.isFolder,
                remote.hash == nil
            else {
                known.append(step)
                continue
            }
            // A server that does not tell hashes: the same bytes on both sides are no conflict.
            progress.add(try await learnHash(of: remote))
        }
        for (path, copy) in try await mirror.keepBoth(known) {
            tally.note(SyncEvent(.conflict, path: path, copy: copy, message: "both sides changed it; both are kept"))
            progress.done += 1
        }
        return progress
    }

    private func makeFolders(_ steps: [Step]) async throws -> RoundProgress {
        var progress = RoundProgress()
        for path in try await mirror.makeFolders(steps) {
            tally.note(SyncEvent(.makeLocalFolder, path: path.shown))
            progress.done += 1
        }
        // Folders of one depth do not depend on each other.
        var levels: [Int: [Node]] = [:]
        for step in steps {
            if case .createRemoteFolder(let local) = step {
                levels[local.path.components.count, default: []].append(local)
            }
        }
        for (_, nodes) in levels.sorted(by: { $0.key < $1.key }) {
            progress.add(
                try await forEach(nodes, width: configuration.parallelTransfers) { [self] node in
                    try await attempt(node.path.key) {
                        try probe.before(.call("createFolder \(node.path)"))
                        let metadata = try await remote.createFolder(onServer(node.path))
                        try await mirror.recordRemoteFolder(node.path.key, metadata)
                        tally.note(SyncEvent(.makeRemoteFolder, path: node.path.shown))
                    }
                })
        }
        return progress
    }

    /// Does something for each item, several at a time.
    func forEach<Item: Sendable>(
        _ items: [Item], width: Int, _ body: @escaping @Sendable (Item) async throws -> RoundProgress
    ) async throws -> RoundProgress {
        if items.isEmpty { return RoundProgress() }
        let next = Counter()
        return try await withThrowingTaskGroup(of: RoundProgress.self) { group in
            for _ in 0..<min(max(1, width), items.count) {
                group.addTask {
                    var progress = RoundProgress()
                    while true {
                        let place = next.take()
                        guard place < items.count else { return progress }
                        try Task.checkCancellation()
                        progress.add(try await body(items[place]))
                    }
                }
            }
            var progress = RoundProgress()
            for try await part in group { progress.add(part) }
            return progress
        }
    }

    /// Hands out the numbers from 0, each once.
    private final class Counter: Sendable {
        private let next = Mutex(0)

        func take() -> Int {
            next.withLock { next in
                defer { next += 1 }
                return next
            }
        }
    }

    /// Runs one step and judges its failure: the whole sync's, one that may pass, or this entry's.
    func attempt(_ key: PathKey, _ work: () async throws -> Void) async throws -> RoundProgress {
        do {
            try await work()
            clearRefusals(key)
            return RoundProgress(done: 1)
        } catch let error as RemoteError {
            switch error.code {
            case .cancelled, .unauthorized: throw error
            case .conflict, .notFound, .forbidden, .badRequest, .tooMany:
                // Somebody else was first: the next round sees what is there now.
                if countRefusal(key) > 3 { try await mirror.fail(key, error.message) }
                return RoundProgress()
            case .localFile:
                await mirror.distrust(key)
                if countRefusal(key) > 3 { try await mirror.fail(key, error.message) }
                return RoundProgress()
            case _ where error.isRetryable: return RoundProgress(failure: error)
            default:
                if countRefusal(key) > 2 { try await mirror.fail(key, error.message) }
                return RoundProgress()
            }
        }
    }

    private func delete(_ steps: [Step]) async throws -> RoundProgress {
        var progress = RoundProgress()
        let local = steps.filter { if case .deleteLocal = $0 { true } else { false } }
        let gone = try await mirror.discard(local)
        for path in gone { tally.note(SyncEvent(.deleteLocal, path: path.shown)) }
        countDeletions(gone.count)
        progress.done += gone.count
        var (files, folders): ([Node], [Node]) = ([], [])
        for step in steps {
            guard case .deleteRemote(let node, let isRecursive) = step else { continue }
            if isRecursive { folders.append(node) } else { files.append(node) }
        }
        progress.add(
            try await forEach(files, width: configuration.parallelTransfers) { [self] node in
                try await attempt(node.path.key) {
                    try await delete(node.path.key, shown: node.path.shown, seen: node.revision)
                }
            })
        for node in folders {
            progress.add(try await attempt(node.path.key) { try await deleteFolder(node) })
        }
        return progress
    }

    private func delete(_ key: PathKey, shown: String, seen: Revision?) async throws {
        try probe.before(.call("delete \(key)"))
        do {
            _ = try await remote.delete(onServer(RemotePath(key.string)), ifUnchangedSince: seen)
        } catch let error as RemoteError where error.code == .notFound {
            // Gone already: what was wanted.
        }
        let nodes = try await mirror.recordRemoteDeletion(key)
        countDeletions(nodes)
        tally.note(SyncEvent(.deleteRemote, path: shown), nodes: nodes)
    }

    private func deleteFolder(_ node: Node) async throws {
        let key = node.path.key
        if try await mirror.hasUnsyncedBelow(key) {
            try await deleteContents(of: key)
            try await mirror.keepRemoteFolder(key)
            return
        }
        do {
            try await delete(key, shown: node.path.shown, seen: node.revision)
        } catch let error as RemoteError where error.code == .conflict {
            try await deleteContents(of: key)
            try await deleteIfEmpty(key)
        }
    }

    /// Deletes what is known below a folder one by one, each only if nobody has changed it.
    private func deleteContents(of folder: PathKey) async throws {
        for entry in try await mirror.remoteEntries(below: folder) {
            if entry.isFolder {
                try await deleteIfEmpty(entry.key)
            } else {
                try await delete(entry.key, shown: String(entry.key.string.dropFirst()), seen: entry.revision)
            }
        }
    }

    /// Deletes a folder in which nothing is left.
    ///
    /// A server may count deletions in it as changes, so its version is no condition; the look comes right before.
    private func deleteIfEmpty(_ key: PathKey) async throws {
        let path = try onServer(RemotePath(key.string))
        do {
            let listing = try await remote.list(path, unless: nil, includeDeleted: false)
            if let listing, !listing.isDeleted, listing.contents?.isEmpty == false { return }
        } catch {
            guard error.code == .notFound else { throw error }
            // Gone already.
        }
        try await delete(key, shown: String(key.string.dropFirst()), seen: nil)
    }
}

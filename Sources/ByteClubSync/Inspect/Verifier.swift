import ByteClubCore

/// Compares disk and server with what the mirror knows of them, in a copy of its state.
actor Verifier {
    /// The most files and bytes that are read before others get their turn.
    private static let atOnce = (files: 256, bytes: Int64(16 << 20))

    private let executor: any SerialExecutor
    private let copy: ObservedCopy
    private var store: any TreeStore { copy.context.store }
    private var configuration: SyncConfiguration { copy.context.configuration }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ configuration: SyncConfiguration, _ remote: any Remote, _ environment: SyncEnvironment) throws {
        executor = environment.executor
        copy = try ObservedCopy(configuration, remote, environment)
    }

    func close() throws { try store.close() }

    /// Looks at both sides, so that what is left to compare is what both are said to have in common.
    func begin() async throws -> SyncVerification {
        try await copy.observe()
        try copy.plan { _ in }
        var result = SyncVerification()
        result.unsettled = try store.unsettledCount()
        return result
    }

    // MARK: The disk

    /// Compares the next files with what the mirror knows of them; nil at the end.
    func compareDisk(after: ItemID?) throws -> (last: ItemID, found: SyncVerification)? {
        let items = try store.synced(after: after, limit: Self.atOnce.files)
        guard var last = items.first?.id else { return nil }
        var found = SyncVerification()
        for item in items {
            try Task.checkCancellation()
            last = item.id
            try verify(item, &found)
            if found.bytes >= Self.atOnce.bytes { break }
        }
        return (last, found)
    }

    private func verify(_ item: Item, _ found: inout SyncVerification) throws {
        guard item.isSettled, !item.isExcluded, let local = item.local else { return }
        let differs = { (kind: SyncVerification.Difference.Kind, detail: String) in
            SyncVerification.Difference(path: try self.store.shownPath(of: item.id), kind: kind, detail: detail)
        }
        if item.isFrozen {
            let path = try store.shownPath(of: item.id)
            let problem = try store.problems().first { $0.item == item.id || $0.path == path }
            return found.add(try differs(.unreadable, problem?.message ?? "it cannot be looked at"))
        }
        if local.isFolder {
            found.folders += 1
            return
        }
        switch try copy.scanner.readHash(of: item.id) {
        case .content(let hash, let look):
            found.files += 1
            found.bytes += look.fingerprint.size
            if hash == local.hash { return }
            guard let known = local.look, !known.isRacy, look.isUntouched(since: known) else {
                // It was written to since the look.
                found.unsettled += 1
                return
            }
            found.add(
                try differs(
                    .disk,
                    "the content is \(hash), but \(local.hash.map { "\($0)" } ?? "another") was synced, "
                        + "and nothing tells that the file was written to"))
        case .busy: found.add(try differs(.unreadable, "somebody is writing it"))
        case .vanished: found.add(try differs(.missingOnDisk, "it is not there any more"))
        case .problem(let error): found.add(try differs(.unreadable, error.reason))
        }
    }

    // MARK: The server

    /// Compares the server's tree with what the mirror knows of it: by its digest, and entry by entry when that is another
    /// or the server has none.
    func compareServer() async throws -> SyncVerification {
        if try await hasSameDigest() { return SyncVerification() }
        let suspects = try await differingPaths()
        // What has changed meanwhile is told anew before it is judged.
        try await copy.pull()
        var found = SyncVerification()
        for names in suspects {
            try Task.checkCancellation()
            let item = try await copy.tree.item(at: names.map { PathKey.fold($0) })
            if let item, !item.isSettled {
                found.unsettled += 1
                continue
            }
            let path = try names.reduce(configuration.remoteRoot) { try $0.appending($1) }
            let told = try await copy.tree.metadata(at: path)
            let shown = names.joined(separator: "/")
            if let difference = Self.difference(shown, item?.remote, told?.isDeleted == true ? nil : told) {
                found.add(difference)
            }
        }
        return found
    }

    // MARK: By digest

    /// Whether the server proves to have the tree that the mirror knows; false when it cannot.
    private func hasSameDigest() async throws -> Bool {
        let wire = try await copy.tree.remote
        guard try await wire.features().sync, configuration.usesExtension, let wire = wire.journaled else {
            return false
        }
        for _ in 0..<3 {
            try Task.checkCancellation()
            let told: SyncDigest
            do {
                told = try await wire.digest(of: configuration.remoteRoot)
            } catch {
                guard error.code == .notFound else { throw error }
                return try store.children(of: .root, on: .remote).isEmpty
            }
            if try told.digest == digest() { return true }
            if try told.sequence == store.meta(.sequence).flatMap({ Int64($0) }) { return false }
            try await copy.pull()
        }
        return false
    }

    /// The digest of the server's tree as the mirror knows it; nil when a content's hash was never told.
    private func digest() throws -> TreeDigest? {
        var digester = TreeDigester(at: configuration.remoteRoot)
        var left = try digestible(in: .root, configuration.remoteRoot)
        while let (id, path, state) = left.popLast() {
            if state.isFolder {
                digester.add(folder: path)
                left += try digestible(in: id, path)
            } else {
                guard let hash = state.hash else { return nil }
                digester.add(file: path, hash: hash)
            }
        }
        return digester.finish()
    }

    /// What the server has in a folder, the first in the digest's order last.
    private func digestible(
        in folder: ItemID, _ path: RemotePath
    ) throws -> [(id: ItemID, path: RemotePath, state: RemoteState)] {
        let children = try store.children(of: folder, on: .remote).compactMap { item in
            item.remote.map { (item.id, $0) }
        }
        return try children.sorted {
            $1.1.place.name.key.utf8.lexicographicallyPrecedes($0.1.place.name.key.utf8)
        }.map { ($0, try path.appending($1.place.name.text), $1) }
    }

    // MARK: Entry by entry

    /// The names of the paths at which the server tells something else than the mirror knows.
    private func differingPaths() async throws -> [[String]] {
        var differing: [[String]] = []
        var seen = ItemNumbers()
        var cursor: String?
        var progress = FeedProgress()
        while true {
            try Task.checkCancellation()
            let page = try await copy.tree.remote.delta(after: cursor, prefix: configuration.remoteRoot)
            try progress.take(
                entries: page.entries.count, isReset: page.reset, cursor: page.cursor, after: cursor,
                hasMore: page.hasMore)
            for entry in page.entries {
                guard let told = entry.metadata, !told.isDeleted,
                    let path = told.path.rebased(from: configuration.remoteRoot, to: .root), !path.isRoot
                else {
                    try progress.takeRepeat()
                    continue
                }
                let item = try await copy.tree.item(at: path.components.map { PathKey.fold($0) })
                if let item, !seen.insert(item.id) { try progress.takeRepeat() }
                if Self.difference("", item?.remote, told) != nil {
                    differing.append(path.components.map { String($0) })
                }
                if differing.count > SyncVerification.maximumDifferences { return differing }
            }
            cursor = page.cursor
            if !page.hasMore { break }
        }
        // What the mirror knows of the server and the walk has not met.
        var folders: [(id: ItemID, names: [String])] = [(.root, [])]
        while let (folder, names) = folders.popLast() {
            for item in try store.children(of: folder, on: .remote) {
                guard let name = item.remote?.place.name.text else { continue }
                if differing.count > SyncVerification.maximumDifferences { return differing }
                if !seen.contains(item.id) { differing.append(names + [name]) }
                if item.isFolder, names.count < NameRules.maximumDepth { folders.append((item.id, names + [name])) }
            }
        }
        return differing
    }

    /// How what the server tells of an entry is another than what the mirror knows; nil when it is not.
    private static func difference(
        _ path: String, _ known: RemoteState?, _ told: Metadata?
    ) -> SyncVerification.Difference? {
        let differs = { SyncVerification.Difference(path: path, kind: $0, detail: $1) }
        guard let known else {
            return told.map {
                differs(
                    .unknownOnServer,
                    $0.isFolder ? "the server has a folder" : "the server has a file of \($0.bytes) bytes")
            }
        }
        guard let told else { return differs(.missingOnServer, "the server does not have it") }
        if known.isFolder != told.isFolder {
            return differs(.server, told.isFolder ? "the server has a folder" : "the server has a file")
        }
        if !known.place.name.text.utf8.elementsEqual(told.path.name.utf8) {
            return differs(.server, "the server calls it '\(told.path.name)'")
        }
        if known.isFolder { return nil }
        if let hash = known.hash, let other = told.contentHash, hash != other {
            return differs(.server, "the server has the content \(other), not \(hash)")
        }
        if known.size != told.bytes {
            return differs(.server, "the server has \(told.bytes) bytes, not \(known.size)")
        }
        return nil
    }
}

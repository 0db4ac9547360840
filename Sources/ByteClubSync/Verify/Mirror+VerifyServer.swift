import ByteClubCore

extension Mirror {
    /// Compares the server's tree with what the mirror knows of it: by its digest, and entry by entry when that is another
    /// or the server has none.
    func verifyServer() async throws -> SyncVerification {
        if try await hasSameDigest() { return SyncVerification() }
        let suspects = try await differingPaths()
        // What has changed meanwhile is told anew before it is judged.
        try await pull()
        var found = SyncVerification()
        for names in suspects {
            try Task.checkCancellation()
            let item = try item(at: names.map { PathKey.fold($0) })
            if let item, !item.isSettled {
                found.unsettled += 1
                continue
            }
            let path = try names.reduce(configuration.remoteRoot) { try $0.appending($1) }
            let told = try await metadata(at: path)
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
        guard try await knownFeatures().sync, let wire = remote as? any SyncRemote else { return false }
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
            if try told.sequence == toldSequence() { return false }
            try await pull()
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
            let page = try await remote.delta(after: cursor, prefix: configuration.remoteRoot)
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
                let item = try item(at: path.components.map { PathKey.fold($0) })
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

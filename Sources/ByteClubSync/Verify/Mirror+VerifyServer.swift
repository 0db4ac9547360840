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
        guard try add(.root, configuration.remoteRoot, to: &digester) else { return nil }
        return digester.finish()
    }

    private func add(_ folder: ItemID, _ path: RemotePath, to digester: inout TreeDigester) throws -> Bool {
        let children = try store.children(of: folder, on: .remote).compactMap { item in
            item.remote.map { (item.id, $0) }
        }
        for (id, state) in children.sorted(by: {
            $0.1.place.name.key.utf8.lexicographicallyPrecedes($1.1.place.name.key.utf8)
        }) {
            let path = try path.appending(state.place.name.text)
            if state.isFolder {
                digester.add(folder: path)
                guard try add(id, path, to: &digester) else { return false }
            } else {
                guard let hash = state.hash else { return false }
                digester.add(file: path, hash: hash)
            }
        }
        return true
    }

    // MARK: Entry by entry

    /// The names of the paths at which the server tells something else than the mirror knows.
    private func differingPaths() async throws -> [[String]] {
        var differing: [[String]] = []
        var seen = ItemNumbers()
        var cursor: String?
        while true {
            try Task.checkCancellation()
            let page = try await remote.delta(after: cursor, prefix: configuration.remoteRoot)
            for entry in page.entries {
                guard let told = entry.metadata, !told.isDeleted,
                    let path = told.path.rebased(from: configuration.remoteRoot, to: .root), !path.isRoot
                else { continue }
                let item = try item(at: path.components.map { PathKey.fold($0) })
                if let item { seen.insert(item.id) }
                if Self.difference("", item?.remote, told) != nil {
                    differing.append(path.components.map { String($0) })
                }
                if differing.count > SyncVerification.maximumDifferences { return differing }
            }
            cursor = page.cursor
            if !page.hasMore { break }
        }
        try addUnseen(in: .root, [], seen, to: &differing)
        return differing
    }

    /// Adds what the mirror knows of the server and a walk over that has not met.
    private func addUnseen(
        in folder: ItemID, _ names: [String], _ seen: ItemNumbers, to differing: inout [[String]]
    ) throws {
        for item in try store.children(of: folder, on: .remote) {
            guard let name = item.remote?.place.name.text else { continue }
            if differing.count > SyncVerification.maximumDifferences { return }
            if !seen.contains(item.id) { differing.append(names + [name]) }
            if item.isFolder { try addUnseen(in: item.id, names + [name], seen, to: &differing) }
        }
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

/// A set of items of which most are close together, at one bit each.
private struct ItemNumbers {
    private var words: [UInt64] = []

    mutating func insert(_ id: ItemID) {
        guard id.number >= 0 else { return }
        let word = Int(id.number / 64)
        if word >= words.count { words += Array(repeating: 0, count: max(word + 1 - words.count, words.count)) }
        words[word] |= 1 << UInt64(id.number % 64)
    }

    func contains(_ id: ItemID) -> Bool {
        let word = Int(id.number / 64)
        return words.indices.contains(word) && words[word] & 1 << UInt64(id.number % 64) != 0
    }
}

public import ByteClubCore

/// Compares disk and server with the mirror's state.
extension ObservedCopy {
    /// The most files and bytes that are read before the actor yields.
    private static let atOnce = (files: 256, bytes: Int64(16 << 20))

    /// Scans both sides, so that only synced entries are left to compare.
    func beginVerification() async throws -> SyncVerification {
        try await observe()
        try local.plan { _, _ in }
        var result = SyncVerification()
        result.unsettled = try store.unsettledCount()
        result.skipped = try store.problems().count { $0.isFromScan && $0.item == nil }
        return result
    }

    // MARK: The disk

    /// Compares the next files with the mirror's state; nil at the end.
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
            return found.add(try differs(.unreadable, problem?.message ?? "it cannot be examined"))
        }
        if local.isFolder {
            found.folders += 1
            return
        }
        switch try self.local.scanner.readHash(of: item.id) {
        case .content(let hash, let stat):
            found.files += 1
            found.bytes += stat.fingerprint.size
            if hash == local.hash { return }
            guard let known = local.stat, !known.isRacy, stat.isUntouched(since: known) else {
                // It was written since the scan.
                found.unsettled += 1
                return
            }
            found.add(
                try differs(
                    .disk,
                    "the content is \(hash), but \(local.hash.map { "\($0)" } ?? "another") was synced, "
                        + "but the file's times are unchanged"))
        case .busy: found.add(try differs(.unreadable, "it is being written"))
        case .vanished:
            // A folder that cannot be read is reported for everything in it.
            let above = try store.localChain(of: item.id) ?? []
            if try above.contains(where: { try store.item($0.item)?.isFrozen == true }) { return }
            found.add(try differs(.missingOnDisk, "it is missing"))
        case .problem(let error): found.add(try differs(.unreadable, error.reason))
        }
    }

    // MARK: The server

    /// Compares the server's tree with the mirror's state: by its digest, and entry by entry when that differs or the
    /// server has none.
    func compareServer() async throws -> SyncVerification {
        if try await hasSameDigest() { return SyncVerification() }
        let differing = try await differingPaths()
        // Changes made meanwhile are pulled before the comparison.
        try await pull()
        var found = SyncVerification()
        for names in differing {
            try Task.checkCancellation()
            let item = try await tree.item(at: names.map { PathKey.fold($0) })
            if let item, !item.isSettled {
                found.unsettled += 1
                continue
            }
            let path = try names.reduce(configuration.remoteRoot) { try $0.appending($1) }
            let reported = try await tree.metadata(at: path)
            let shown = names.joined(separator: "/")
            if let difference = Self.difference(shown, item?.remote, reported?.isDeleted == true ? nil : reported) {
                found.add(difference)
            }
        }
        return found
    }

    // MARK: By digest

    /// Whether the server's digest equals the mirror's; false when the server has none.
    private func hasSameDigest() async throws -> Bool {
        guard let wire = try await tree.remote.powers().sync, configuration.usesExtension else { return false }
        for _ in 0..<3 {
            try Task.checkCancellation()
            let reported: SyncDigest
            do {
                reported = try await wire.digest(of: configuration.remoteRoot)
            } catch {
                guard error.code == .notFound else { throw error }
                return try store.children(of: .root, on: .remote).isEmpty
            }
            if try reported.digest == digest() { return true }
            if try reported.sequence == store.meta(.sequence).flatMap({ Int64($0) }) { return false }
            try await pull()
        }
        return false
    }

    /// The digest of the server's tree as the mirror knows it; nil when a content's hash is unknown.
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
            $1.1.location.name.key.utf8.lexicographicallyPrecedes($0.1.location.name.key.utf8)
        }.map { ($0, try path.appending($1.location.name.text), $1) }
    }

    // MARK: Entry by entry

    /// The paths, as names, at which the server differs from the mirror's state.
    private func differingPaths() async throws -> [[String]] {
        var differing: [[String]] = []
        var seen = ItemNumbers()
        var cursor: String?
        var progress = FeedProgress()
        while true {
            try Task.checkCancellation()
            let page = try await tree.remote.delta(after: cursor, prefix: configuration.remoteRoot)
            try progress.take(
                entries: page.entries.count, isReset: page.reset, cursor: page.cursor, after: cursor,
                hasMore: page.hasMore)
            for entry in page.entries {
                guard let reported = entry.metadata, !reported.isDeleted,
                    let path = reported.path.rebased(from: configuration.remoteRoot, to: .root), !path.isRoot
                else {
                    try progress.takeRepeat()
                    continue
                }
                let item = try await tree.item(at: path.components.map { PathKey.fold($0) })
                if let item, !seen.insert(item.id) { try progress.takeRepeat() }
                if Self.difference("", item?.remote, reported) != nil {
                    differing.append(path.components.map { String($0) })
                }
                if differing.count > SyncVerification.maximumDifferences { return differing }
            }
            cursor = page.cursor
            if !page.hasMore { break }
        }
        // Entries that the mirror knows and the listing has not shown.
        var folders: [(id: ItemID, names: [String])] = [(.root, [])]
        while let (folder, names) = folders.popLast() {
            for item in try store.children(of: folder, on: .remote) {
                guard let name = item.remote?.location.name.text else { continue }
                if differing.count > SyncVerification.maximumDifferences { return differing }
                if !seen.contains(item.id) { differing.append(names + [name]) }
                if item.isFolder, names.count < NameRules.maximumDepth { folders.append((item.id, names + [name])) }
            }
        }
        return differing
    }

    /// How the server's entry differs from the mirror's state; nil when it does not.
    private static func difference(
        _ path: String, _ known: RemoteState?, _ reported: Metadata?
    ) -> SyncVerification.Difference? {
        let differs = { SyncVerification.Difference(path: path, kind: $0, detail: $1) }
        guard let known else {
            return reported.map {
                differs(
                    .unknownOnServer,
                    $0.isFolder ? "the server has a folder" : "the server has a file of \($0.bytes) bytes")
            }
        }
        guard let reported else { return differs(.missingOnServer, "the server does not have it") }
        if known.isFolder != reported.isFolder {
            return differs(.server, reported.isFolder ? "the server has a folder" : "the server has a file")
        }
        if !known.location.name.text.utf8.elementsEqual(reported.path.name.utf8) {
            return differs(.server, "the server calls it '\(reported.path.name)'")
        }
        if known.isFolder { return nil }
        if let hash = known.hash, let other = reported.contentHash, hash != other {
            return differs(.server, "the server has the content \(other), not \(hash)")
        }
        if known.size != reported.bytes {
            return differs(.server, "the server has \(reported.bytes) bytes, not \(known.size)")
        }
        return nil
    }
}

extension SyncEngine {
    /// Compares disk and server with the mirror's database: reads every file, and compares the server's tree by its
    /// digest, or entry by entry when that differs.
    ///
    /// First both sides are scanned as by a sync, in a copy of the mirror's state, so that pending changes are reported
    /// as such. Nothing is changed, and an engine may run meanwhile. `progress` is called after every few files, with
    /// how many were compared and how many bytes were read.
    ///
    /// - Throws: ``SyncError``, `cancelled` soon after the task is.
    public func verify(
        progress: (_ files: Int, _ bytes: Int64) -> Void
    ) async throws(SyncError) -> SyncVerification {
        do {
            let copy = try ObservedCopy(configuration, remote, SyncEnvironment(configuration))
            var result = try await copy.beginVerification()
            var last: ItemID?
            while let part = try await copy.compareDisk(after: last) {
                last = part.last
                result.add(part.found)
                progress(result.files, result.bytes)
            }
            result.add(try await copy.compareServer())
            return result
        } catch {
            throw SyncError.wrapping(error)
        }
    }
}

extension SyncVerification {
    /// Adds the results of a part.
    mutating func add(_ part: SyncVerification) {
        files += part.files
        folders += part.folders
        bytes += part.bytes
        unsettled += part.unsettled
        skipped += part.skipped
        for difference in part.differences { add(difference) }
    }
}

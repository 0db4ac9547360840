import ByteClubCore

extension Mirror {
    /// The most files and bytes that are read before others get their turn.
    private static var verifiedAtOnce: (files: Int, bytes: Int64) { (256, 16 << 20) }

    /// Looks at both sides, so that what is left to compare is what both are said to have in common.
    func beginVerification() async throws -> SyncVerification {
        _ = try loadRules()
        _ = try scanner.scan(.everything, confirmsDeletions: true)
        try await pull()
        try readUnread()
        var result = SyncVerification()
        result.unsettled = try store.unsettledCount()
        return result
    }

    /// Reads the files that may have been written to since they were synced, as far as their times tell.
    private func readUnread() throws {
        var progress = Progress()
        var chunks = UnsettledChunks(store, of: 1_000)
        while let chunk = try chunks.next() {
            _ = try readAndPlan(chunk.filter { $0.remote?.isDoubtful != true }.map(\.id), &progress)
        }
    }

    /// Compares the next files with what the mirror knows of them; nil at the end.
    func verifyDisk(after: ItemID?) throws -> (last: ItemID, found: SyncVerification)? {
        let items = try store.synced(after: after, limit: Self.verifiedAtOnce.files)
        guard var last = items.first?.id else { return nil }
        var found = SyncVerification()
        for item in items {
            try Task.checkCancellation()
            last = item.id
            try verify(item, &found)
            if found.bytes >= Self.verifiedAtOnce.bytes { break }
        }
        return (last, found)
    }

    private func verify(_ item: Item, _ found: inout SyncVerification) throws {
        guard item.isSettled, !item.isExcluded, let local = item.local else { return }
        let differs = { (kind: SyncVerification.Difference.Kind, detail: String) in
            SyncVerification.Difference(path: try self.shownPath(of: item.id), kind: kind, detail: detail)
        }
        if item.isFrozen {
            let path = try shownPath(of: item.id)
            let problem = try store.problems().first { $0.item == item.id || $0.path == path }
            return found.add(try differs(.unreadable, problem?.message ?? "it cannot be looked at"))
        }
        if local.isFolder {
            found.folders += 1
            return
        }
        switch try scanner.readHash(of: item.id) {
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
}

import ByteClubCore

extension RemoteTree {
    /// How many entries are restored in one step, so that edits are synced between steps.
    static let mostRestored = 100
    /// The most versions of a file that are requested.
    private static let mostVersions = 1_000

    /// Restores from the server's history some of the entries that a wave had deleted before the guard held the rest,
    /// and that were not tried yet.
    ///
    /// One that the server refuses becomes a problem, and the next call tries it again.
    ///
    /// - Returns: The entries that it tried: ``mostRestored`` when there may be more.
    /// - Throws: ``RemoteError`` when no other call would succeed either, and the store's errors; the next call continues.
    func undelete(besides tried: Set<ItemID>, _ report: inout SyncReport) async throws -> [ItemID] {
        let wanted = try context.store.records(SentDeletion.self).filter { $0.isWanted && !tried.contains($0.item) }
        // Folders come before their contents.
        let next = wanted.sorted { $0.path < $1.path }.prefix(Self.mostRestored)
        for deletion in next {
            do throws(RemoteError) {
                try await restore(deletion)
            } catch {
                if [.cancelled, .unauthorized, .unreachable, .rateLimited].contains(error.code) { throw error }
                let problem = SentDeletion.problem(at: deletion.path, error)
                try context.store.setProblem(problem, path: problem.path)
                report.emitOnce(SyncEvent(.problem, path: problem.path, message: problem.message))
                continue
            }
            // A second request for the same entry finds it there and changes nothing.
            try context.store.transaction(durably: false) { try context.store.forget(deletion) }
            report.distrustFeed(.ownWrite)
        }
        return next.map(\.item)
    }

    private func restore(_ deletion: SentDeletion) async throws(RemoteError) {
        let path: RemotePath
        do throws(PathError) {
            var place = context.configuration.remoteRoot
            for name in deletion.path.utf8.split(separator: UInt8(ascii: "/")) {
                place = try place.appending(String(Substring(name)))
            }
            path = place
        } catch {
            throw RemoteError(.badRequest, error.message)
        }
        if try await metadata(at: path)?.isDeleted == false { return }
        guard let revision = deletion.revision else {
            _ = try await remote.createFolder(path)
            return
        }
        do {
            _ = try await remote.restore(path, to: revision)
        } catch {
            guard error.code == .notFound, let version = try await lastVersion(of: path, deletion.hash) else {
                throw error
            }
            _ = try await remote.restore(path, to: version)
        }
    }

    /// The newest version with a content that was kept under a path, else the newest of any content.
    ///
    /// A file that was moved has another version under its new path than the one in which it was written.
    private func lastVersion(of path: RemotePath, _ hash: ContentHash?) async throws(RemoteError) -> Revision? {
        let kept = try await remote.revisions(of: path, limit: Self.mostVersions).filter { !$0.isDeleted }
        return (kept.first { hash != nil && $0.contentHash == hash } ?? kept.first)?.rev
    }
}

import ByteClubCore

/// Brings back from the server's history what a wave of deletions had deleted there before the guard held the rest.
struct Undeletion {
    let context: SyncContext
    let remote: any Remote

    /// Restores all that is wanted back; what the server refuses for good is reported and left.
    ///
    /// - Throws: ``RemoteError`` when no other call would succeed either, and the store's errors; the next call goes on.
    func run(_ report: inout SyncReport) async throws {
        let wanted = try context.store.records(SentDeletion.self).filter(\.isWanted)
        // Folders come before what is in them.
        for deletion in wanted.sorted(by: { $0.path < $1.path }) {
            do throws(RemoteError) {
                try await restore(deletion)
            } catch {
                if error.isRetryable || error.code == .cancelled || error.code == .unauthorized { throw error }
                let message = "it is not brought back from the server's history: \(error.message)"
                report.emit(SyncEvent(.problem, path: deletion.path, message: message))
            }
            // Asked for twice it is there already, and left as it is.
            try context.store.transaction(durably: false) {
                try context.store.removeRecord(SentDeletion.self, .number(deletion.item.number))
            }
            report.isFeedStale = true
        }
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
        do {
            if try await !remote.metadata(at: path).isDeleted { return }
        } catch {
            if error.code != .notFound { throw error }
        }
        if let revision = deletion.revision {
            _ = try await remote.restore(path, to: revision)
        } else {
            _ = try await remote.createFolder(path)
        }
    }
}

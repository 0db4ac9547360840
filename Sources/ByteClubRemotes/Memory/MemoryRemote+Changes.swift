public import ByteClubCore

extension MemoryRemote {
    /// The changes after a cursor, a page at a time.
    public func delta(after cursor: String?, prefix: RemotePath) async throws(RemoteError) -> DeltaPage {
        try await perform(.delta) { () throws(RemoteError) in
            var position: DeltaCursor?
            if let cursor {
                let known = try tree.open(cursor, member: author)
                guard prefix.key == known.prefix || prefix.key.isBelow(known.prefix) else {
                    throw RemoteError(.badCursor, "the cursor is for '\(known.prefix)', not for '\(prefix)'")
                }
                position = known
            }
            let start = DeltaCursor(epoch: tree.epoch, member: author, prefix: prefix.key)
            var (page, next) = try read { try $0.delta(after: position, start: start, limit: pageSize) }
            page.cursor = tree.seal(next)
            return page
        }
    }

    /// Waits for a change; accepts shorter times than a server does.
    public func waitForChanges(after cursor: String, timeout: Duration) async throws(RemoteError) -> LongpollResult {
        try await perform(.waitForChanges) { () async throws(RemoteError) in
            let position = try tree.open(cursor, member: author)
            let deadline = ContinuousClock.now.advanced(by: timeout)
            while true {
                let (isThere, last) = try read { folder in
                    let changes = try folder.state.changes(
                        after: position.revision, prefix: position.prefix, includeDeleted: true, limit: 1)
                    return (!changes.isEmpty, try folder.state.lastRevision())
                }
                if isThere { return LongpollResult(changes: true) }
                if ContinuousClock.now >= deadline { return LongpollResult(changes: false) }
                await tree.change(after: last, until: deadline)
                try RemoteError.checkCancellation()
            }
        }
    }
}

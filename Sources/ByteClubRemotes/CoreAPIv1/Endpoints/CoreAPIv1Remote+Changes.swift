public import ByteClubCore
import ByteClubHTTP

extension CoreAPIv1Remote {
    /// The changes after a cursor. `POST /1/delta`
    public func delta(after cursor: String?, prefix: RemotePath) async throws(RemoteError) -> DeltaPage {
        let form: Parameters = ["cursor": cursor, "path_prefix": prefix.isRoot ? nil : prefix.string]
        // It only reads, so it may be repeated although it is a POST.
        return try await repeatingOnce { () throws(RemoteError) in
            try await transport.post("delta", form: form).decoded()
        }
    }

    /// Waits for a change. `GET /1/longpoll_delta`
    public func waitForChanges(after cursor: String, timeout: Duration) async throws(RemoteError) -> LongpollResult {
        let seconds = max(0, timeout.components.seconds)
        // Dropbox may answer up to 90 s late, so that not all clients come back at once.
        let options = waitingOptions(seconds + 90)
        return try await transport.get(
            "longpoll_delta", query: ["cursor": cursor, "timeout": String(seconds)], options: options
        ).decoded()
    }
}

extension CoreAPIv1Remote: HistoryRemote {
    /// What members did, the newest first. `GET /1/sync/history`
    public func history(
        before: Int64?, after: Int64?, limit: Int, wait: Duration
    ) async throws(RemoteError) -> HistoryPage {
        let seconds = max(0, wait.components.seconds)
        let query: Parameters = [
            "before": before.map { String($0) }, "after": after.map { String($0) }, "limit": String(limit),
            "wait": seconds == 0 ? nil : String(seconds),
        ]
        return try await transport.get("sync/history", query: query, options: waitingOptions(seconds)).decoded()
    }
}

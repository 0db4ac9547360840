public import ByteClubCore
import ByteClubHTTP

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

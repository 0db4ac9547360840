/// The calls of ``RemotePowers/history``: what members did.
public protocol HistoryRemote: Sendable {
    /// What members did, the newest first: changes after one number and before another, at most `limit` (1 to 1,000).
    ///
    /// With `wait` it waits that long for the first change after `after`, when there is none yet. `GET /sync/history`
    func history(
        before: Int64?, after: Int64?, limit: Int, wait: Duration
    ) async throws(RemoteError) -> HistoryPage
}

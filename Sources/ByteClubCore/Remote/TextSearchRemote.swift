/// The calls of ``RemotePowers/textSearch``.
public protocol TextSearchRemote: Sendable {
    /// The entries below a folder in whose names or texts all that is looked for occurs, as ``TextQuery`` reads it.
    /// `GET /search` with `content`
    func searchTexts(_ path: RemotePath, query: String, limit: Int) async throws(RemoteError) -> TextSearchResults
}

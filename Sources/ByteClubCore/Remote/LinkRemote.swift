/// A remote with links that let in people without an account.
///
/// Every server of Core API v1 makes them. One that shows them and takes them back says so in ``RemoteFeatures/links``;
/// otherwise ``links(before:)`` and ``revokeLink(_:)`` fail with `notFound`, and a lifetime is ignored.
public protocol LinkRemote: Remote {
    /// The caller's link to a file or a folder, a new one when there is none; with a lifetime in seconds it ends then.
    /// `POST /shares`
    func share(_ path: RemotePath, for lifetime: Int64?) async throws(RemoteError) -> SharedLink

    /// The links that the caller may see, the newest first: those with a lower number than `id`. `GET /sync/links`
    func links(before id: Int64?) async throws(RemoteError) -> PublicLinkPage

    /// Takes a link back; `notFound` when there is none of this number that the caller may see. `POST
    /// /sync/links/revoke`
    func revokeLink(_ id: Int64) async throws(RemoteError)
}

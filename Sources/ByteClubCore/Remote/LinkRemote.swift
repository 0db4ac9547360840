/// The calls of ``RemotePowers/links``: links that let in people without an account.
public protocol LinkRemote: Sendable {
    /// The caller's link to a file or a folder, a new one when there is none.
    ///
    /// A server without ``RemotePowers/managedLinks`` ignores the terms; an older one ignores a password and what is said
    /// of places, and tells neither in its answer. `POST /shares`
    func share(_ path: RemotePath, _ terms: LinkTerms) async throws(RemoteError) -> SharedLink
}

/// The calls of ``RemotePowers/managedLinks``.
public protocol ManagedLinkRemote: LinkRemote {
    /// The links that the caller may see, the newest first: those with a lower number than `id`. `GET /sync/links`
    func links(before id: Int64?) async throws(RemoteError) -> PublicLinkPage

    /// Takes a link back; `notFound` when there is none of this number that the caller may see. `POST
    /// /sync/links/revoke`
    func revokeLink(_ id: Int64) async throws(RemoteError)
}

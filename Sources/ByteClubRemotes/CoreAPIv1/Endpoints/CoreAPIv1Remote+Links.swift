public import ByteClubCore

extension CoreAPIv1Remote: ManagedLinkRemote {
    /// The member's link to a file or a folder. `POST /1/shares/<root>/<path>`
    public func share(_ path: RemotePath, _ terms: LinkTerms) async throws(RemoteError) -> SharedLink {
        try await transport.post(
            address("shares", path),
            form: [
                "short_url": "false", "expires_in": terms.lifetime.map { String($0) }, "password": terms.password,
                "location": terms.keepsLocation.map { $0 ? "keep" : "remove" },
            ]
        ).decoded()
    }

    /// The links that the member may see, the newest first. `GET /1/sync/links`
    public func links(before id: Int64?) async throws(RemoteError) -> PublicLinkPage {
        try await transport.get("sync/links", query: ["before": id.map { String($0) }]).decoded()
    }

    /// Takes a link back. `POST /1/sync/links/revoke`
    public func revokeLink(_ id: Int64) async throws(RemoteError) {
        _ = try await transport.post("sync/links/revoke", form: ["id": String(id)])
    }
}

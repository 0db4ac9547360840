public import ByteClubCore

extension CoreAPIv1Remote {
    /// Describes the member whose token is sent. `GET /1/account/info`
    public func account() async throws(RemoteError) -> Account {
        let account: Account = try await transport.get("account/info").decoded()
        knownAccount.account = account
        return account
    }

    /// Makes the token that is sent useless. `POST /1/disable_access_token`
    ///
    /// - Throws: As any call of a remote.
    public func disableToken() async throws(RemoteError) {
        _ = try await transport.post("disable_access_token", form: [:])
    }

    /// The server's powers, asked for once. `GET /1/account/info`
    public func powers() async throws(RemoteError) -> RemotePowers {
        let extensions: Account.Extensions?
        if let known = knownAccount.account {
            extensions = known.extensions
        } else {
            extensions = try await account().extensions
        }
        return RemotePowers(
            conditionalDelete: extensions?.conditionalDelete ?? false, contentHash: extensions != nil, longPoll: true,
            orderedRevisions: true, sync: extensions?.sync == true ? self : nil,
            bulkChunks: extensions?.bulkChunks ?? false, links: self,
            managedLinks: extensions?.links == true ? self : nil,
            history: extensions?.history == true ? self : nil,
            textSearch: extensions?.contentSearch == true ? self : nil,
            photoSearch: extensions?.photoSearch == true ? self : nil)
    }
}

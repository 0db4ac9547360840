public import ByteClubCore

extension CoreAPIv1Remote {
    /// Describes the member whose token is sent. `GET /1/account/info`
    public func account() async throws(RemoteError) -> Account {
        let account: Account = try await transport.get("account/info").decoded()
        knownAccount.account = account
        return account
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
            orderedRevisions: true, sync: extensions?.sync == true ? self : nil, links: self,
            managedLinks: extensions?.links == true ? self : nil,
            history: extensions?.history == true ? self : nil)
    }
}

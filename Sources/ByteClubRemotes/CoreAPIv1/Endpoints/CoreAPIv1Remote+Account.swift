public import ByteClubCore

extension CoreAPIv1Remote {
    /// Describes the member whose token is sent. `GET /1/account/info`
    public func account() async throws(RemoteError) -> Account {
        let account: Account = try await transport.get("account/info").decoded()
        knownFeatures.features = Self.features(of: account)
        return account
    }

    /// The server's powers, asked for once. `GET /1/account/info`
    public func features() async throws(RemoteError) -> RemoteFeatures {
        if let known = knownFeatures.features { return known }
        return Self.features(of: try await account())
    }

    private static func features(of account: Account) -> RemoteFeatures {
        RemoteFeatures(
            conditionalDelete: account.extensions?.conditionalDelete ?? false,
            contentHash: account.extensions != nil, longPoll: true, sync: account.extensions?.sync ?? false,
            links: account.extensions?.links ?? false)
    }
}

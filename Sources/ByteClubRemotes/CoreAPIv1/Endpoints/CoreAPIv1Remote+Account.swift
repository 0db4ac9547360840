public import ByteClubCore

extension CoreAPIv1Remote {
    /// Describes the member whose token is sent. `GET /1/account/info`
    public func account() async throws(RemoteError) -> Account {
        let account: Account = try await transport.get("account/info").decoded()
        transport.server.account = account
        return account
    }

    /// Makes the token that is sent useless. `POST /1/disable_access_token`
    ///
    /// - Throws: As any call of a remote.
    public func disableToken() async throws(RemoteError) {
        _ = try await transport.post("disable_access_token", form: [:])
    }

    /// Whether the member has a password for the server's pages; nil when the server cannot tell. `GET /1/sync/password`
    ///
    /// - Throws: As any call of a remote.
    public func hasPassword() async throws(RemoteError) -> Bool? {
        do {
            return try await transport.get("sync/password").decoded(PasswordAnswer.self).isSet
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    /// Sets the member's password for the server's pages, which signs browsers out. `POST /1/sync/password`
    ///
    /// - Parameters:
    ///   - password: The new password.
    ///   - current: The one that it replaces; nil when there is none.
    /// - Returns: Whether it was set: false when `current` is not the password that the member has.
    /// - Throws: As any call of a remote.
    public func setPassword(_ password: String, replacing current: String?) async throws(RemoteError) -> Bool {
        let form: Parameters = ["password": password, "current": current]
        do {
            _ = try await transport.post("sync/password", form: form)
            return true
        } catch {
            guard error.code == .forbidden, !error.isOfRole else { throw error }
            return false
        }
    }

    /// The server's powers, asked for once. `GET /1/account/info`
    public func powers() async throws(RemoteError) -> RemotePowers {
        let extensions: Account.Extensions?
        if let known = transport.server.account {
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

/// What `GET /1/sync/password` answers.
private struct PasswordAnswer: JSONReadable {
    let isSet: Bool

    init(json: inout JSONReader) throws(JSONError) {
        isSet = try json.member("is_set") { (json) throws(JSONError) in try json.value() }
    }
}

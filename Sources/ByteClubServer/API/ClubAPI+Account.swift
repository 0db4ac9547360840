import ByteClubCore
import HTTPTypes

extension ClubAPI {
    /// Lets a member of at least a role make a call.
    ///
    /// - Throws: ``APIError`` 401 without valid credentials, 403 when they are malformed or the member may not do it.
    func authorize(_ call: Call, as role: Role) async throws {
        let member = try await member(of: call)
        call.member = member
        guard member.role >= role else {
            throw APIError(403, "only members with the role \(role.word) may do this; yours is \(member.role.word)")
        }
    }

    /// Whose credentials a call shows.
    ///
    /// - Throws: ``APIError`` 401 when there are none or they are not valid, 403 when they are malformed.
    func member(of call: Call) async throws -> Member {
        let credentials = try Credentials(
            authorization: call.headers[.authorization], parameters: call.parameters)
        switch credentials {
        case .bearer(let token):
            if let member = try await store.member(forToken: token) { return member }
        case .plaintext(let signed):
            let known = try await store.oauth1Credentials(consumerKey: signed.consumerKey, token: signed.token)
            if let known,
                signed.isSigned(consumerSecret: known.consumerSecret, tokenSecret: known.tokenSecret)
            {
                return known.member
            }
        }
        throw APIError(401, "the access token is unknown or disabled; log in again")
    }

    /// Answers `GET /account/info`.
    func accountInfo(_ call: Call) async throws -> Answer {
        let member = try call.requireMember()
        let usage = try await store.usage()
        var account = Account(
            uid: member.uid, displayName: member.name,
            quotaInfo: Account.Quota(quota: usage.capacity, normal: usage.used, shared: 0),
            extensions: Account.Extensions(version: 1, conditionalDelete: true))
        account.referralLink = settings.publicURL
        return .json(account)
    }
}

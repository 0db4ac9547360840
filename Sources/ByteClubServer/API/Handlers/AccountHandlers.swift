import ByteClubCore
import HTTPTypes

/// Tells members about themselves.
struct AccountHandlers: Sendable {
    let store: any RoomStore & AddressStore
    let settings: ClubAPI.Settings

    /// Answers `GET /account/info`.
    func info(_ request: MemberRequest) async throws -> Response {
        let member = request.member
        let usage = try await store.usage(of: member.uid)
        var account = Account(
            uid: member.uid, displayName: member.name,
            quotaInfo: Account.Quota(quota: usage.quota ?? Account.Quota.unlimited, normal: usage.used, shared: 0),
            extensions: Account.Extensions(
                version: 1, conditionalDelete: true, sync: true, links: true, history: true, contentSearch: true,
                photoSearch: true, bulkChunks: true, club: settings.clubName(in: store)))
        account.referralLink = settings.publicURL
        account.role = member.role.word
        return .json(account)
    }
}

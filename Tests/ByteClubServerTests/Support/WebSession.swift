import Testing

@testable import ByteClubServer

extension MemberStore where Self: SessionStore {
    /// Starts a session in a browser of a member; who has no password yet gets one that nobody knows.
    func addWebSession(member: Int64, lifetime: Int64) async throws -> String {
        let name = try #require(try await members().first { $0.uid == member }?.name)
        let known = try await credentials(ofMember: name)?.password
        let password = try #require(known ?? PasswordHash(text: "scrypt$16384$8$5$00$00"))
        if known == nil { try await setPassword(password, ofMember: name) }
        let secret = try await addWebSession(member: member, password: password, lifetime: lifetime)
        return try #require(secret)
    }
}

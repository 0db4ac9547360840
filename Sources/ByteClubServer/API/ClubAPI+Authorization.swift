import ByteClubCore
import HTTPTypes

/// A signature of OAuth 1 that needs a name from the body before it can be checked.
struct PendingSignature: Sendable {
    let signed: OAuth1
    let header: [String: String]
    let consumerSecret: String
    let tokenSecret: String
    let signer: NonceMemory.Signer
}

extension ClubAPI {
    /// Lets a member of at least a role make a call.
    ///
    /// - Throws: ``APIError`` 401 without valid credentials, 403 when they are malformed or the member may not do it.
    func authorize(_ call: Call, as role: Role) async throws {
        let member: Member
        do {
            member = try await self.member(of: call)
        } catch let error as APIError {
            if error.status == 401, Credentials.areShown(by: call) {
                try settings.limits.countFailure(from: call.client.address)
            }
            try settings.limits.countAnonymous(from: call.client.address)
            throw error
        }
        call.member = member
        try settings.limits.count(member, isOAuth1: Credentials.areOAuth1(of: call))
        guard member.role >= role else {
            throw APIError(403, "only members with the role \(role.word) may do this; yours is \(member.role.word)")
        }
    }

    /// Does what comes before the credentials are asked for, and counts its failure unless a member's are shown.
    func countingStrangers<T>(_ call: Call, _ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch let error as APIError {
            var isMembers = call.member != nil
            if !isMembers, Credentials.areShown(by: call) { isMembers = (try? await member(of: call)) != nil }
            if !isMembers { try settings.limits.countAnonymous(from: call.client.address) }
            throw error
        }
    }

    /// Whose credentials a call shows.
    ///
    /// - Throws: ``APIError`` 401 when there are none or they are not valid, 403 when they are malformed.
    private func member(of call: Call) async throws -> Member {
        switch try Credentials(authorization: call.headers[.authorization], parameters: call.parameters) {
        case .bearer(let token):
            call.token = token
            if let member = try await store.member(forToken: token) { return member }
        case .oauth1(let signed, let header):
            guard let token = signed.token,
                let known = try await store.oauth1Credentials(consumerKey: signed.consumerKey, token: token)
            else { break }
            call.token = token
            let pending = PendingSignature(
                signed: signed, header: header, consumerSecret: known.consumerSecret, tokenSecret: known.tokenSecret,
                signer: .member(known.member.uid))
            if signed.method == .hmacSHA1, call.isFormUpload {
                call.pendingSignature = pending
            } else {
                try check(pending, of: call)
            }
            return known.member
        }
        throw Self.unknownToken
    }

    /// Does what needs no token, and counts it when the secrets shown instead were wrong.
    func countingFailures(of call: Call, _ body: (Call) async throws -> Answer) async throws -> Answer {
        do {
            let answer = try await body(call)
            if answer.status.code >= 400 { try settings.limits.countFailure(from: call.client.address) }
            return answer
        } catch let error as APIError where error.status == 401 || error.status == 403 {
            try settings.limits.countFailure(from: call.client.address)
            throw error
        }
    }

    static var unknownToken: APIError { APIError(401, "the access token is unknown or disabled; log in again") }

    /// Checks a signature, and with a digest also that the request is fresh and no repetition.
    ///
    /// - Throws: ``APIError`` 401 for a wrong signature, else as ``NonceMemory/take(_:of:at:)``.
    func check(
        _ pending: PendingSignature, of call: Call, with extra: [(name: String, value: String)] = []
    ) throws(APIError) {
        let signed = pending.signed
        let isSigned = signed.isSigned(
            consumerSecret: pending.consumerSecret, tokenSecret: pending.tokenSecret
        ) {
            SignatureBase.text(
                method: call.method.rawValue, origin: SignatureBase.normalized(call.origin(settings)),
                path: call.rawPath,
                parameters: call.parameters.pairs + pending.header.map { ($0.key, $0.value) } + extra)
        }
        guard isSigned else { throw Self.unknownToken }
        guard signed.method == .hmacSHA1 else { return }
        try nonces.take(signed, of: pending.signer, at: settings.now())
    }
}

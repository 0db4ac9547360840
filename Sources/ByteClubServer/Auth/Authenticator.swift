import ByteClubCore
import HTTPTypes

/// Authenticates the senders of requests, and counts requests without an account.
struct Authenticator: Sendable {
    private let store: any SessionStore
    private let settings: ClubAPI.Settings
    private let nonces: NonceMemory

    /// Knows the members of a store; signatures of before now count for nothing.
    init(store: any SessionStore, settings: ClubAPI.Settings) {
        self.store = store
        self.settings = settings
        nonces = NonceMemory(since: settings.now())
    }

    /// Who sends a request.
    ///
    /// - Throws: ``APIError`` 401 without valid credentials, 403 when they are malformed; 429 when there were too many
    ///   such requests.
    func identity(of request: RoutedRequest) async throws -> Identity {
        var credentials: Credentials?
        do {
            let shown = try Credentials(authorization: request.headers[.authorization], parameters: request.parameters)
            credentials = shown
            return try await identity(of: request, showing: shown)
        } catch let error as APIError {
            // Wrong credentials are an attempt to guess; no credentials, or malformed ones, are not.
            if error.status == 401, credentials != nil { try countFailure(of: request) }
            try countAnonymous(request.request)
            throw error
        }
    }

    /// Who sends a request whose form is not read; nil when the header and the query do not show it.
    func sender(of request: Request) async -> Identity? {
        let query = (try? request.place.get())?.query ?? ""
        let parameters = (try? Parameters(query: query)) ?? Parameters.none
        let path = RequestTarget.path(of: request.target)
        guard
            let credentials = try? Credentials(authorization: request.headers[.authorization], parameters: parameters),
            let member = try? await member(
                showing: credentials,
                verify: { try check($0, of: request, path: String(path), parameters: parameters.pairs) })
        else { return nil }
        return Identity(member: member, credentials: credentials, pendingSignature: nil)
    }

    /// Lets a member of at least a role make a request.
    ///
    /// - Throws: ``APIError`` 403 when the member may not, 429 or 503 when the member has made too many.
    func admit(_ sender: Identity, as role: Role) throws(APIError) {
        try count(sender.member.uid, isOAuth1: sender.credentials.isOAuth1)
        let own = sender.member.role
        guard own >= role else {
            throw APIError(
                403, "your role here is \(own.word); ask an owner for the \(role.word) role",
                parameter: Account.roleParameter)
        }
    }

    /// Counts a member's request, or one of a member whom nothing but a cursor names.
    ///
    /// - Throws: ``APIError`` 429, or 503 for OAuth 1, when it is one too many.
    func count(_ member: Int64, isOAuth1: Bool = false) throws(APIError) {
        try settings.limits.count(member, isOAuth1: isOAuth1)
    }

    /// Counts a request without an account.
    ///
    /// - Throws: ``APIError`` 429 when it is one too many.
    func countAnonymous(_ request: Request) throws(APIError) {
        try settings.limits.countAnonymous(from: request.client.address)
    }

    /// Answers a request without a token, and counts it as a failure when its other secrets were wrong.
    func countingFailures(
        of request: RoutedRequest, _ body: (RoutedRequest) async throws -> Response
    ) async throws -> Response {
        do {
            let response = try await body(request)
            if response.status.code >= 400 { try countFailure(of: request) }
            return response
        } catch let error as APIError where error.status == 401 || error.status == 403 {
            try countFailure(of: request)
            throw error
        }
    }

    /// Checks a signature, and with a digest also that the request is fresh and no repetition.
    ///
    /// - Parameters:
    ///   - signature: The signature, and the secrets that it must have been made with.
    ///   - request: The signed request.
    ///   - extra: Further signed values, which count as parameters.
    /// - Throws: ``APIError`` 401 for a wrong signature, else as ``NonceMemory/take(_:of:at:)``.
    func check(
        _ signature: PendingSignature, of request: some RequestContext, with extra: [(name: String, value: String)] = []
    ) throws(APIError) {
        try check(
            signature, of: request.request, path: request.rawPath, parameters: request.parameters.pairs + extra)
    }

    private func check(
        _ signature: PendingSignature, of request: Request, path: String, parameters: [(name: String, value: String)]
    ) throws(APIError) {
        let signed = signature.signed
        let base = {
            SignatureBase.text(
                method: request.method.rawValue,
                origin: SignatureBase.normalized(settings.origin(for: request.client)),
                path: path, parameters: parameters + signature.header.map { ($0.key, $0.value) })
        }
        guard
            signed.isSigned(consumerSecret: signature.consumerSecret, tokenSecret: signature.tokenSecret, base: base)
        else { throw Self.unknownToken }
        guard signed.method == .hmacSHA1 else { return }
        try nonces.take(signed, of: signature.signer, at: settings.now())
    }

    private func identity(of request: RoutedRequest, showing credentials: Credentials) async throws -> Identity {
        var pending: PendingSignature?
        let member = try await member(showing: credentials) { signature in
            if signature.signed.method == .hmacSHA1, request.endpoint.cost.body == .multipart {
                pending = signature
            } else {
                try check(signature, of: request)
            }
        }
        return Identity(member: member, credentials: credentials, pendingSignature: pending)
    }

    /// The member whose credentials these are; a signature is left to `verify`.
    private func member(
        showing credentials: Credentials, verify: (PendingSignature) throws -> Void
    ) async throws -> Member {
        switch credentials {
        case .bearer(let token):
            if let member = try await store.member(forToken: token) { return member }
        case .oauth1(let signed, let header):
            guard let token = signed.token,
                let known = try await store.oauth1Credentials(consumerKey: signed.consumerKey, token: token)
            else { break }
            try verify(
                PendingSignature(
                    signed: signed, header: header, consumerSecret: known.consumerSecret,
                    tokenSecret: known.tokenSecret, signer: .member(known.member.uid)))
            return known.member
        }
        throw Self.unknownToken
    }

    private func countFailure(of request: RoutedRequest) throws(APIError) {
        try settings.limits.countFailure(from: request.client.address)
    }

    private static var unknownToken: APIError { APIError(401, "the access token is invalid or revoked; sign in again") }
}

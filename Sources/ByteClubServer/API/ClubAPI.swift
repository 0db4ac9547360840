import ByteClubCore
import HTTPTypes

/// Core API v1 over a store: each operation in its own facet.
struct ClubAPI: Sendable {
    let store: any MetadataStore
    let thumbnails: ThumbnailStore
    let media: MediaInfoReader
    let settings: Settings
    let site: WebSite
    let authenticator: Authenticator
    let shares: FairShares

    /// Puts the operations and the pages over a store.
    init(
        store: any MetadataStore, thumbnails: ThumbnailStore, media: MediaInfoReader, settings: Settings,
        shares: FairShares
    ) {
        self.store = store
        self.shares = shares
        self.thumbnails = thumbnails
        self.media = media
        self.settings = settings
        authenticator = Authenticator(store: store, settings: settings)
        site = WebSite(store: store, settings: settings, csrfKey: store.signingKey, shares: shares)
    }

    /// What an operator may set.
    struct Settings: Sendable {
        /// The most bytes of one upload or chunk; the protocol's 150 MB.
        var bodyLimit: Int64 = 157_286_400
        /// The shortest timeout of a long poll in seconds; the protocol's 30.
        var longpollMinimum: Int64 = 30
        /// Where clients find this server, shown in the account and the start of links; empty for what each client calls it.
        var publicURL = ""
        /// The clock, in seconds since 1970.
        var now: @Sendable () -> Int64 = SystemTime.seconds

        /// ``publicURL`` without its path; nil when it is not known.
        var publicOrigin: String? {
            let parts = publicURL.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
            return parts.count < 3 ? nil : parts[..<3].joined(separator: "/")
        }
        /// How often members may call.
        var limits = RequestLimits()
        /// How often passwords may be guessed.
        var signIns = SignInLimits()
    }

    /// The most entries of one page of changes.
    static let pageSize = 2000

    /// Does what a request asks for, and notes what the log is told of it, also when this throws.
    ///
    /// - Throws: ``APIError`` for what the protocol refuses, ``StorageError`` for what the storage cannot do, and what
    ///   reading the body throws.
    func respond(to request: Request, noting record: inout RequestRecord) async throws -> Response {
        if let preflight = CrossOrigin.preflight(request) {
            try authenticator.countAnonymous(request)
            return preflight
        }
        let (target, match) = try await authenticator.countingStrangers(request) { () throws(APIError) in
            let target = try RequestTarget(request.target)
            guard let match = Router.standard.match(target.components) else {
                throw APIError(404, "there is no such operation")
            }
            return (target, match)
        }
        if let path = match.loggablePath { record.path = path }
        guard let endpoint = match.endpoint(for: request.method) else {
            try await authenticator.countStranger(request)
            return .refusal(APIError(405, "\(request.method) is not allowed here"), allowing: match.methods)
        }
        record.endpoint = endpoint.name
        let routed = try await authenticator.countingStrangers(request) { () throws(APIError) in
            try RoutedRequest(request, to: endpoint, at: target, tail: match.tail)
        }
        return try await respond(to: routed, noting: &record)
    }

    private func respond(to request: RoutedRequest, noting record: inout RequestRecord) async throws -> Response {
        var request = request
        var response: Response
        switch request.endpoint.handler {
        case .member(let role, let handler):
            var identity: Identity?
            // Who shows a token outside the form is asked who they are before a byte of it is held.
            if Credentials.areShown(by: request), !Credentials.areOAuth1(of: request) {
                identity = try await admit(request, as: role, noting: &record)
            }
            try await readForm(of: &request, from: identity)
            let sender =
                if let identity { identity } else { try await admit(request, as: role, noting: &record) }
            response = try await handler(self)(MemberRequest(request, from: sender))
            try response.hold(shares, for: sender.party)
        case .anyone(let handler):
            if !request.endpoint.countsItself { try authenticator.countAnonymous(request.request) }
            try await readForm(of: &request, from: nil)
            response = try await handler(self)(request)
            try response.hold(shares, for: request.party)
        case .page(let handler):
            try await readForm(of: &request, from: nil)
            response = try await site.respond(to: request, handler(site))
            try response.hold(shares, for: request.party)
        }
        return response
    }

    private func admit(
        _ request: RoutedRequest, as role: Role, noting record: inout RequestRecord
    ) async throws -> Identity {
        let identity = try await authenticator.identity(of: request)
        record.member = identity.member.uid
        try authenticator.admit(identity.member, as: role, making: request)
        return identity
    }

    private func readForm(of request: inout RoutedRequest, from identity: Identity?) async throws {
        do {
            try await request.readForm(in: shares.forms, for: identity?.party ?? request.party)
        } catch let error as APIError {
            if identity == nil { try await authenticator.countStranger(request) }
            throw error
        }
    }

    /// Changes the folder and answers with the entry that came of it.
    func change(
        _ request: MemberRequest, storing content: StagedContent? = nil,
        _ body: @escaping @Sendable (inout SharedFolder<AnyFolderState>) throws -> FolderEntry
    ) async throws -> Response {
        return .json(Metadata(try await store.write(by: request.member.uid, storing: content, body)))
    }
}

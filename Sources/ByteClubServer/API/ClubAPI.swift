import ByteClubCore
import HTTPTypes

/// The operations of the server over a store; ``Endpoint/all`` assigns one to each request.
final class ClubAPI: Sendable {
    let store: any ClubStore
    let reader: FolderReader
    let pictures: PictureStore
    let media: MediaInfoReader
    let settings: Settings
    let shares: SharedLimits
    let authenticator: Authenticator
    let signIns = DeviceSignIns()
    let places = ChunkPlaces()
    let site: WebSite

    /// Puts the operations and the pages over a store.
    init(
        store: any ClubStore, pictures: PictureStore, media: MediaInfoReader, settings: Settings, shares: SharedLimits
    ) {
        self.store = store
        self.pictures = pictures
        self.media = media
        self.settings = settings
        self.shares = shares
        reader = FolderReader(store: store, shares: shares)
        authenticator = Authenticator(store: store, settings: settings)
        site = WebSite(
            store: store, media: media, settings: settings, csrfKey: store.signingKey, shares: shares, signIns: signIns)
    }

    /// Answers a request, and fills the record for the log, also when this throws.
    ///
    /// - Throws: ``APIError`` for a refusal of the protocol, ``StorageError`` for a failure of the storage, and errors
    ///   of reading the body.
    func respond(to request: Request, noting record: inout RequestRecord) async throws -> Response {
        if let preflight = CrossOrigin.preflight(request) {
            try authenticator.countAnonymous(request)
            return preflight
        }
        let target = try await countingRefusal(of: request, noting: &record) { () throws(APIError) in
            try request.place.get()
        }
        guard let match = Router.standard.match(target.components) else {
            try await countRefused(request, noting: &record)
            if request.isForPrograms || !request.takesPages { throw APIError(404, "no such operation") }
            return site.unknownPage()
        }
        if let path = match.loggablePath { record.path = path }
        guard let endpoint = match.endpoint(for: request.method) else {
            try await countRefused(request, noting: &record)
            return .refusal(APIError(405, "\(request.method) is not allowed here"), allowing: match.methods)
        }
        record.endpoint = endpoint.name
        let routed = try await countingRefusal(of: request, noting: &record) { () throws(APIError) in
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
            // A token outside of the form is checked before a byte of the form is held in memory.
            if Credentials.precedeForm(of: request) { identity = try await admit(request, as: role, noting: &record) }
            try await readForm(of: &request, from: identity, noting: &record)
            let sender =
                if let identity { identity } else { try await admit(request, as: role, noting: &record) }
            response = try await handler(self)(MemberRequest(routed: request, identity: sender))
            try response.hold(shares, for: sender.requester)
        case .anyone(let handler):
            if !request.endpoint.countsItself { try authenticator.countAnonymous(request.request) }
            try await readForm(of: &request, from: nil, noting: &record)
            response = try await handler(self)(request)
            try response.hold(shares, for: request.requester)
        case .page(let handler):
            let answer = try await site.respond(to: request, handler(site))
            record.member = answer.visit.member?.uid
            response = answer.response
            try response.hold(shares, for: answer.visit.requester)
        }
        return response
    }

    private func admit(
        _ request: RoutedRequest, as role: Role, noting record: inout RequestRecord
    ) async throws -> Identity {
        let identity = try await authenticator.identity(of: request)
        record.member = identity.member.uid
        try authenticator.admit(identity, as: role)
        request.request.open.rest(on: .device(token: identity.credentials.token))
        return identity
    }

    private func readForm(
        of request: inout RoutedRequest, from identity: Identity?, noting record: inout RequestRecord
    ) async throws {
        do {
            try await request.readForm(in: shares.forms, for: identity?.requester ?? request.requester)
        } catch let error as APIError {
            if identity == nil { try await countRefused(request.request, noting: &record) }
            throw error
        }
    }

    private func countingRefusal<T>(
        of request: Request, noting record: inout RequestRecord, _ body: () throws(APIError) -> T
    ) async throws(APIError) -> T {
        do {
            return try body()
        } catch {
            try await countRefused(request, noting: &record)
            throw error
        }
    }

    /// Counts a request that is refused before its sender is authenticated: for the member if it shows one.
    private func countRefused(_ request: Request, noting record: inout RequestRecord) async throws(APIError) {
        guard let sender = await authenticator.sender(of: request) else {
            return try authenticator.countAnonymous(request)
        }
        record.member = sender.member.uid
        try authenticator.count(sender.member.uid, isOAuth1: sender.credentials.isOAuth1)
    }
}

extension ClubAPI {
    /// The operator's settings of the operations.
    struct Settings: Sendable {
        /// The most bytes of one upload or chunk; the protocol's 150 MB.
        var bodyLimit: Int64 = 157_286_400
        /// The shortest timeout of a long poll in seconds; the protocol's 30.
        var longpollMinimum: Int64 = 30
        /// The published address of the server, for the account's page and links; if empty, the address that each
        /// client uses.
        var publicURL = ""
        /// The club's name, which no page changes; nil when its owners name it.
        var clubName: String?
        /// The map service that the pages of photos link to; nil for none.
        var mapLink: MapLink? = .openStreetMap
        /// The SHA-256 of the server's public key, in the Base64 of addresses, by which members recognise a self-signed
        /// certificate; nil for any other.
        var pin: String?
        /// The clock, in seconds since 1970.
        var now: @Sendable () -> Int64 = SystemTime.seconds

        /// How often members may call.
        var limits = RequestLimits()
        /// How often passwords may be guessed.
        var signIns = SignInLimits()

        /// The scheme, host and port that a client used: those that the owner published, otherwise as its request has
        /// them.
        func origin(for client: Client) -> String {
            publicOrigin ?? (client.isSecure ? "https://" : "http://") + (client.host ?? "")
        }

        /// The club's name: the operator's, else the one that its owners gave it; nil for none.
        func clubName(in store: any AddressStore) -> String? { clubName ?? store.clubName }

        /// ``publicURL`` without its path; nil when it is not known.
        private var publicOrigin: String? {
            let parts = publicURL.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
            return parts.count < 3 ? nil : parts[..<3].joined(separator: "/")
        }
    }
}

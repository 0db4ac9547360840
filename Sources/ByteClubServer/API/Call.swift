import ByteClubCore
import HTTPTypes
import HummingbirdCore
import NIOCore

/// One request on its way through the server; one task owns it.
final class Call {
    /// The request's method.
    let method: HTTPRequest.Method
    /// The request's headers.
    let headers: HTTPFields
    /// The request's body.
    let body: IncomingBody
    /// The query's values, and the form's once it is read.
    private(set) var parameters = Parameters.none
    /// Who sends the request, as far as the connection and trusted proxies tell.
    let client: Client
    /// Who makes the call; nil until the credentials are checked.
    var member: Member?
    /// The token that the call shows, once it is read: a bearer token or the key of an OAuth 1 token.
    var token = ""
    /// The components after the operation's name: the root and the path.
    private(set) var place: ArraySlice<String> = []
    /// What answers, once the URL is read.
    private var endpoint: Endpoint?
    /// The methods that the URL takes, when it does not take the request's; RFC 9110, 15.5.6.
    private(set) var allowedMethods: [HTTPRequest.Method] = []
    /// The path in the URL as it was sent.
    private(set) var rawPath = ""
    /// The query as it was sent.
    private(set) var query = ""
    /// A signature that covers something in the body, and is still to be checked.
    var pendingSignature: PendingSignature?
    /// What a log shows in place of the path; nil when the path holds no secret.
    private(set) var loggablePath: String?
    /// The name of the route for those who count; empty until it is known.
    private(set) var routeName = ""

    private let target: String
    private let channel: any Channel

    /// Takes a request over; nothing of it is checked yet.
    init(_ request: Request, from client: Client, on channel: any Channel) {
        self.client = client
        self.channel = channel
        method = request.method
        headers = request.headers
        target = request.head.path ?? ""
        body = IncomingBody(request, channel: channel)
    }

    /// Whether the client wants no further answer on this connection.
    var asksToClose: Bool { headers[.connection]?.lowercased().contains("close") ?? false }

    /// Finds out what is asked for, and reads the query.
    ///
    /// - Throws: ``APIError`` 404 for an operation that there is not, 405 for a wrong method, 400 for what is malformed.
    func findEndpoint() throws(APIError) -> Endpoint {
        let target = try RequestTarget(target)
        guard let match = Router.standard.match(target.components) else {
            throw APIError(404, "there is no such operation")
        }
        loggablePath = match.endpoints[0].loggablePath
        guard let endpoint = match.endpoint(for: method) else {
            allowedMethods = match.methods
            throw APIError(405, "\(method) is not allowed here")
        }
        self.endpoint = endpoint
        routeName = endpoint.name
        place = match.tail
        rawPath = String(target.path)
        query = String(target.query)
        parameters = try Parameters(query: target.query)
        return endpoint
    }

    /// Reads the form, when there is one, into ``parameters``.
    ///
    /// - Throws: ``APIError`` 413 for one that is too long, 429 or 503 when there is no memory for it, 400 for what is
    ///   malformed; what reading the body throws.
    func readForm(_ shares: FairShares) async throws {
        guard method == .post, isForm, cost.body == .form else { return }
        let most = body.length ?? Int64(RequestCost.formLimit)
        guard most <= Int64(RequestCost.formLimit) else { throw RequestCost.tooLong(RequestCost.formLimit) }
        let lease = most > Int64(FairShares.smallForm) ? try shares.forms.take(Int(most), for: party) : nil
        defer { withExtendedLifetime(lease) {} }
        try parameters.add(form: await body.collect(limit: most))
    }

    /// Reads the body of an operation that needs it whole, once there is memory for it.
    ///
    /// - Throws: ``APIError`` 413 for one that is too long, 429 or 503 when too many wait for memory; what reading the
    ///   body throws.
    func wholeBody(_ shares: FairShares) async throws -> HeldBody {
        guard case .whole(let limit) = cost.body else { preconditionFailure("\(routeName) has no whole body") }
        let most = body.length ?? Int64(limit)
        guard most <= Int64(limit) else { throw RequestCost.tooLong(limit) }
        let lease = try await shares.bodies.wait(Int(most), for: party)
        return HeldBody(bytes: try await body.collect(limit: most), lease: lease)
    }

    /// What the request may cost before it is served.
    var cost: RequestCost { endpoint?.cost ?? RequestCost() }

    /// Who pays for it.
    var party: Party { member.map { .member($0.uid) } ?? .stranger(client.address?.household) }

    /// Whose attempts count together: the client's address, or its network; empty when there is none.
    var peer: String { client.address?.household.description ?? "" }

    /// The scheme, host and port that the client used: those that the owner published, otherwise as the request has them.
    func origin(_ settings: ClubAPI.Settings) -> String {
        if let published = settings.publicOrigin { return published }
        return (client.isSecure ? "https://" : "http://") + (client.host ?? "")
    }

    /// The URL of a place on the server, as the client can reach it.
    func url(_ components: [String], _ settings: ClubAPI.Settings) -> String {
        var base = settings.publicURL.isEmpty ? origin(settings) : settings.publicURL
        while base.hasSuffix("/") { base.removeLast() }
        return base + components.map { "/" + PercentCoding.encode($0) }.joined()
    }

    /// Does something that waits long, and cancels it when the client hangs up.
    ///
    /// - Throws: What `body` throws.
    func whileClientWaits<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        let task = Task { try await body() }
        channel.triggerUserOutboundEvent(ClientWaits { task.cancel() }, promise: nil)
        defer { channel.triggerUserOutboundEvent(ClientWaits(onHangUp: nil), promise: nil) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Whether the operations of the API are asked for, and not a page for people.
    var isForPrograms: Bool { target.hasPrefix("/1/") }

    private var isForm: Bool {
        headers[.contentType]?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
    }

    /// Whether the body is a form with a file in it.
    var isFormUpload: Bool { cost.body == .multipart }

    /// The path in the URL, after its root.
    ///
    /// - Throws: ``APIError`` 400 for a root that is unknown or not the token's, and for a bad path.
    func path() throws(APIError) -> RemotePath {
        guard let root = place.first else { throw APIError(400, "the root is missing", parameter: "root") }
        try Self.check(root: root)
        do {
            return try RemotePath(place.dropFirst().joined(separator: "/"))
        } catch {
            throw APIError(400, error.message, parameter: "path")
        }
    }

    /// The path in a parameter, for operations that name the root in another one.
    ///
    /// - Throws: ``APIError`` 400 when it is missing or bad, or the root is.
    func path(in name: String) throws(APIError) -> RemotePath {
        try Self.check(root: parameters["root"] ?? "auto")
        guard let path = try parameters.path(name) else {
            throw APIError(400, "the parameter is missing", parameter: name)
        }
        return path
    }

    /// The member who makes the call.
    ///
    /// - Throws: ``APIError`` 401 when nobody does.
    func requireMember() throws(APIError) -> Member {
        guard let member else { throw APIError(401, "no access token was sent") }
        return member
    }

    /// Every token is for the whole tree, so there is no app folder.
    private static func check(root: String) throws(APIError) {
        switch root {
        case "dropbox", "auto": break
        case "sandbox": throw APIError(400, "this token is for the whole folder: use 'auto'", parameter: "root")
        default: throw APIError(400, "the root is neither 'auto', 'dropbox' nor 'sandbox'", parameter: "root")
        }
    }
}

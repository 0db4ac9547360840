import ByteClubCore
import HTTPTypes
import HummingbirdCore
import NIOCore

/// A request as it came in, not checked yet; one task owns it.
///
/// It becomes a ``RoutedRequest`` once its URL is parsed, and a ``MemberRequest`` once its sender is authenticated.
struct Request {
    /// The method.
    let method: HTTPRequest.Method
    /// The headers.
    let headers: HTTPFields
    /// The target in the request line, as it was sent.
    let target: String
    /// The same decoded, or the error of decoding it.
    let place: Result<RequestTarget, APIError>
    /// The body, of which nothing is read yet.
    let body: IncomingBody
    /// Who sends the request, as far as the connection and trusted proxies tell.
    let client: Client
    /// The entry in ``OpenRequests``, to which the sender's credential is added.
    let open: OpenRequest
    fileprivate let channel: any Channel

    /// Creates a request from the framework's.
    init(
        _ request: HummingbirdCore.Request, from client: Client, as open: OpenRequest, on channel: any Channel
    ) {
        self.client = client
        self.open = open
        self.channel = channel
        method = request.method
        headers = request.headers
        let target = request.head.path ?? ""
        self.target = target
        place = Result { () throws(APIError) in try RequestTarget(target) }
        body = IncomingBody(request, channel: channel)
    }

    /// Whether the client wants no further response on this connection.
    var asksToClose: Bool { headers[.connection]?.lowercased().contains("close") ?? false }

    /// Whether it is for the API, and not for a page for people.
    var isForPrograms: Bool { target.hasPrefix("/1/") }

    /// Whether a browser asks, which shows pages.
    var takesPages: Bool { headers[values: .accept].contains { $0.lowercased().contains("text/html") } }
}

/// A request whose URL is parsed, and perhaps its form; its sender is not authenticated.
struct RoutedRequest: RequestContext {
    let request: Request
    let endpoint: Endpoint
    let tail: ArraySlice<String>
    private(set) var parameters: Parameters
    /// The path in the URL as it was sent.
    let rawPath: String
    /// The query as it was sent.
    let query: String

    /// Reads the query of a request for an endpoint.
    ///
    /// - Throws: ``APIError`` 400 for a query that is malformed.
    init(
        _ request: Request, to endpoint: Endpoint, at target: RequestTarget, tail: ArraySlice<String>
    ) throws(APIError) {
        self.request = request
        self.endpoint = endpoint
        self.tail = tail
        rawPath = String(target.path)
        query = String(target.query)
        parameters = try Parameters(query: target.query)
    }

    /// A stranger, since the sender is not authenticated.
    var requester: Requester { .stranger(client.address?.network) }

    /// Reads the form, if there is one, into ``parameters``.
    ///
    /// - Parameters:
    ///   - memory: The memory for long forms.
    ///   - requester: The requester that the memory is charged to.
    /// - Throws: ``APIError`` 413 for a form that is too long, 429 or 503 when there is no memory for it, 400 for a
    ///   malformed one; errors of reading the body.
    mutating func readForm(in memory: FairSemaphore, for requester: Requester) async throws {
        guard method == .post, isForm, endpoint.cost.body == .form else { return }
        let most = body.length ?? Int64(RequestCost.formLimit)
        guard most <= Int64(RequestCost.formLimit) else { throw RequestCost.tooLong(RequestCost.formLimit) }
        let lease = most > Int64(SharedLimits.smallForm) ? try memory.take(Int(most), for: requester) : nil
        defer { withExtendedLifetime(lease) {} }
        try parameters.add(form: await body.collect(limit: most))
    }

    private var isForm: Bool {
        headers[.contentType]?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
    }
}

/// A request of a member who has the endpoint's role.
struct MemberRequest: RequestContext {
    let routed: RoutedRequest
    /// Who sends it, and how that was shown.
    let identity: Identity

    /// Who sends it.
    var member: Member { identity.member }
    var requester: Requester { identity.requester }
    var request: Request { routed.request }
    var endpoint: Endpoint { routed.endpoint }
    var tail: ArraySlice<String> { routed.tail }
    var parameters: Parameters { routed.parameters }
    var rawPath: String { routed.rawPath }
}

/// Who sends a request, and how that was shown.
struct Identity: Sendable {
    /// Who sends it.
    let member: Member
    /// The credentials in the request.
    let credentials: Credentials
    /// The signature, when it covers something in the body and is still to be checked.
    let pendingSignature: PendingSignature?

    /// Who pays for the request.
    var requester: Requester { .member(member.uid) }
}

/// A signature of OAuth 1, and the secrets that it must have been made with.
struct PendingSignature: Sendable {
    let signed: OAuth1
    let header: [String: String]
    let consumerSecret: String
    let tokenSecret: String
    let signer: NonceMemory.Signer
}

extension RequestContext {
    /// Does something that waits long, and cancels it when the client hangs up or its credential is revoked.
    ///
    /// - Throws: Errors of `body`; ``Standing/refusal`` when the credential is revoked.
    func whileClientWaits<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        let task = Task { try await body() }
        request.channel.triggerUserOutboundEvent(ClientWaits { task.cancel() }, promise: nil)
        defer { request.channel.triggerUserOutboundEvent(ClientWaits(onHangUp: nil), promise: nil) }
        // Before the connection knew of the wait, it could not end it.
        if request.open.isShutOut { task.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch is CancellationError where request.open.isShutOut {
            throw Standing.refusal
        }
    }
}

import ByteClubCore
import HTTPTypes
import ServiceLifecycle

/// The parts of a request that handlers use, with or without an authenticated sender.
protocol RequestContext {
    /// The request as it came in.
    var request: Request { get }
    /// The endpoint that it is for.
    var endpoint: Endpoint { get }
    /// The components of the URL after the endpoint's name.
    var tail: ArraySlice<String> { get }
    /// The path in the URL as it was sent.
    var rawPath: String { get }
    /// The query's values, and the form's.
    var parameters: Parameters { get }
    /// Who pays for it.
    var requester: Requester { get }
}

extension RequestContext {
    /// The request's method.
    var method: HTTPRequest.Method { request.method }
    /// The request's headers.
    var headers: HTTPFields { request.headers }
    /// The request's body.
    var body: IncomingBody { request.body }
    /// Who sends the request, as far as the connection and trusted proxies tell.
    var client: Client { request.client }

    /// Reads the body of an endpoint that needs it whole, once there is memory for it.
    ///
    /// - Throws: ``APIError`` 413 for one that is too long, 429 or 503 when too many requests wait for memory; errors
    ///   of reading the body.
    func wholeBody(in memory: FairSemaphore) async throws -> HeldBody {
        guard case .whole(let limit) = endpoint.cost.body else {
            preconditionFailure("\(endpoint.name) has no whole body")
        }
        let most = body.length ?? Int64(limit)
        guard most <= Int64(limit) else { throw RequestCost.tooLong(limit) }
        let lease = try await memory.wait(Int(most), for: requester)
        return HeldBody(bytes: try await body.collect(limit: most), lease: lease)
    }

    /// Does work when it is a requester's turn, and only while the client waits.
    ///
    /// - Throws: ``APIError`` 429 or 503 when too many requests wait for a turn; as ``whileClientWaits(_:)``.
    func inTurn<T: Sendable>(
        of pool: FairSemaphore, for requester: Requester, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        try await whileClientWaits {
            let turn = try await pool.wait(for: requester)
            defer { withExtendedLifetime(turn) {} }
            return try await work()
        }
    }

    /// Waits for a change while the client waits; false when the time has passed, or the server stops.
    func waitForChange(
        in store: any FolderStore, after revision: Int64, prefix: PathKey = .root, atMost timeout: Duration
    ) async throws -> Bool {
        do {
            return try await whileClientWaits {
                try await cancelWhenGracefulShutdown {
                    try await store.waitForChange(after: revision, prefix: prefix, timeout: timeout)
                }
            }
        } catch is CancellationError {
            return false
        }
    }

    /// The URL of a place on the server, as the client can reach it.
    func url(_ components: [String], _ settings: ClubAPI.Settings) -> String {
        var base = settings.publicURL.isEmpty ? settings.origin(for: client) : settings.publicURL
        while base.hasSuffix("/") { base.removeLast() }
        return base + components.map { "/" + PercentEncoding.encode($0) }.joined()
    }

    /// The path in the URL, after its root.
    ///
    /// - Throws: ``APIError`` 400 for a root that is unknown or not the token's, and for a bad path.
    func path() throws(APIError) -> RemotePath {
        guard let root = tail.first else { throw APIError(400, "the root is missing", parameter: "root") }
        try Self.check(root: root)
        do {
            return try RemotePath(tail.dropFirst().joined(separator: "/"))
        } catch {
            throw APIError(400, error.message, parameter: "path")
        }
    }

    /// The path in a parameter, for endpoints that name the root in another one.
    ///
    /// - Throws: ``APIError`` 400 when it is missing or bad, or the root is.
    func path(in name: String) throws(APIError) -> RemotePath {
        try Self.check(root: parameters["root"] ?? "auto")
        return try Parameters.required(name, parameters.path(name))
    }

    /// Every token is for the whole tree, so there is no app folder.
    private static func check(root: String) throws(APIError) {
        switch root {
        case "dropbox", "auto": break
        case "sandbox": throw APIError(400, "this token is for the whole folder; use 'auto'", parameter: "root")
        default: throw APIError(400, "the root is neither 'auto', 'dropbox' nor 'sandbox'", parameter: "root")
        }
    }
}

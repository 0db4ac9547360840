import ByteClubCore
import HTTPTypes

/// A request whose URL is read, and perhaps its form, whoever sends it.
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

    /// A stranger: nobody has asked yet who sends the request.
    var requester: Requester { .stranger(client.address?.network) }

    /// Reads the form, when there is one, into ``parameters``.
    ///
    /// - Parameters:
    ///   - memory: Where a long form's memory comes from.
    ///   - requester: Who pays for it.
    /// - Throws: ``APIError`` 413 for one that is too long, 429 or 503 when there is no memory for it, 400 for what is
    ///   malformed; what reading the body throws.
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

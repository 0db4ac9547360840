import ByteClubCore
import ByteClubHTTP
import HTTPTypes

/// Makes the requests of Core API v1 and judges their answers.
struct Transport: Sendable {
    /// An answer with a status that the caller expects.
    struct Answer {
        var bytes: [UInt8]
        var response: HTTPResponse
        /// Who was asked, for messages.
        var club: String

        var status: Int { response.status.code }

        /// The body as a value of the protocol.
        func decoded<Value: JSONReadable>(_ type: Value.Type = Value.self) throws(RemoteError) -> Value {
            try JSON.decode(type, bytes, from: club)
        }

        /// Whether a search announces that there may be more results.
        var isIncompleteSearch: Bool {
            HTTPField.Name("X-ByteClub-Search").map { response.headerFields[$0] == "incomplete" } ?? false
        }

        /// The metadata that come with a file's bytes.
        func metadataField() throws(RemoteError) -> Metadata { try Transport.metadata(of: response, club) }
    }

    let origin: ServiceOrigin
    let session: WarmSession
    let server = ServerExperience()

    /// A request for an operation, `address` being percent-encoded already.
    func request(
        _ method: HTTPRequest.Method, _ address: String, query: Parameters = [:], fields: HTTPFields = [:]
    ) -> HTTPRequest {
        let target = origin.prefix + "/1/" + address + (query.isEmpty ? "" : "?" + query.encoded)
        return HTTPRequest(
            method: method, scheme: origin.scheme, authority: origin.authority, path: target, headerFields: fields)
    }

    /// Asks and returns the answer when its status is one of `statuses`; anything else is an error.
    func get(
        _ address: String, query: Parameters = [:], statuses: Set<Int> = [200], fields: HTTPFields = [:],
        options: TaskOptions = .coreAPIv1, through session: WarmSession? = nil,
        excess: () -> RemoteError? = { nil }
    ) async throws(RemoteError) -> Answer {
        let request = request(.get, address, query: query, fields: fields)
        return try await perform(request, statuses: statuses, excess: excess) { () throws(TransferError) in
            try await (session ?? self.session).data(for: request, options: options)
        }
    }

    /// Sends a form, which the session never repeats by itself.
    func post(
        _ address: String, form: Parameters, statuses: Set<Int> = [200]
    ) async throws(RemoteError) -> Answer {
        try await send(
            .post, address, Array(form.encoded.utf8), type: "application/x-www-form-urlencoded", statuses: statuses)
    }

    /// Sends a body of a MIME type over the session for everything but the bytes of files.
    func send(
        _ method: HTTPRequest.Method, _ address: String, _ body: [UInt8], type: String, statuses: Set<Int> = [200],
        _ options: TaskOptions = .coreAPIv1
    ) async throws(RemoteError) -> Answer {
        let request = request(method, address, fields: [.contentType: type])
        return try await perform(request, statuses: statuses) { () throws(TransferError) in
            try await session.data(for: request, body: .bytes(body), options: options)
        }
    }

    /// Does the transfer of a request and judges the answer.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - statuses: The expected statuses.
    ///   - excess: The error for a body over the transfer's limit; nil where the protocol sets the limit.
    ///   - offset: How many bytes of the content were moved before.
    ///   - transfer: Sends the request.
    /// - Returns: The answer.
    /// - Throws: The error of the transfer, or of a refusal.
    func perform(
        _ request: HTTPRequest, statuses: Set<Int> = [200], excess: () -> RemoteError? = { nil },
        from offset: Int64 = 0, _ transfer: () async throws(TransferError) -> (bytes: [UInt8], response: HTTPResponse)
    ) async throws(RemoteError) -> Answer {
        let answer: (bytes: [UInt8], response: HTTPResponse)
        do {
            answer = try await transfer()
        } catch {
            guard error.code == .bodyTooLarge else {
                throw RemoteError(error, hasAnswered: server.hasAnswered, from: offset)
            }
            throw excess()
                ?? RemoteError(.protocolViolation, "the answer of \(origin.club) is longer than the protocol allows")
        }
        server.hasAnswered = true
        guard statuses.contains(answer.response.status.code) else {
            throw RemoteError(answer.response, answer.bytes, from: origin)
        }
        return Answer(bytes: answer.bytes, response: answer.response, club: origin.club)
    }

    /// The metadata that come in the head of an answer with a file's bytes.
    static func metadata(of response: HTTPResponse, _ club: String) throws(RemoteError) -> Metadata {
        guard let name = HTTPField.Name("X-Dropbox-Metadata"), let text = response.headerFields[name] else {
            throw RemoteError(.protocolViolation, "the answer of \(club) lacks the file's metadata")
        }
        return try JSON.decode(Metadata.self, Array(text.utf8), from: club)
    }
}

/// The protocol's JSON.
enum JSON {
    static func decode<Value: JSONReadable>(
        _ type: Value.Type, _ bytes: [UInt8], from club: String
    ) throws(RemoteError) -> Value {
        do {
            return try JSONReader.read(type, from: bytes)
        } catch {
            throw RemoteError(.protocolViolation, "the answer of \(club) violates the protocol: \(error)")
        }
    }
}

extension TaskOptions {
    /// The largest answer but for contents: a listing of 25,000 entries, the most there are in one, with 900 bytes for
    /// each.
    private static let largestAnswer = 24 << 20

    /// What all requests of Core API v1 do differently: it redirects nowhere, so a server that does gets neither a body
    /// to another place nor a client that asks around for it, and it answers no more than a client can hold.
    static var coreAPIv1: TaskOptions {
        var options = TaskOptions()
        options.redirects = .ownOrigin
        options.maximumResponseBytes = largestAnswer
        return options
    }
}

/// Names and values of a query or a form, in the order in which they are sent.
struct Parameters: ExpressibleByDictionaryLiteral {
    private var pairs: [(name: String, value: String)] = []

    init(dictionaryLiteral elements: (String, String?)...) {
        for (name, value) in elements { self[name] = value }
    }

    /// Adds a parameter; nil adds none.
    subscript(name: String) -> String? {
        get { pairs.last { $0.name == name }?.value }
        set { if let newValue { pairs.append((name, newValue)) } }
    }

    var isEmpty: Bool { pairs.isEmpty }

    /// The text of a query, and of a form as well since no blank becomes a plus.
    var encoded: String {
        pairs.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }.joined(separator: "&")
    }
}

/// Percent-encoding of all but the unreserved characters of RFC 3986, section 2.3.
enum PercentEncoding {
    /// Encodes one path segment, or one name or value of a query.
    static func encode(_ text: String) -> String { text.percentEncoded }

    /// Encodes a path segment by segment; empty for the root, else with a slash in front.
    static func encode(_ path: RemotePath) -> String {
        path.components.map { "/" + encode($0) }.joined()
    }
}

import ByteClubCore
import HTTPTypes
import NIOCore

/// The answer to a request.
struct Response: Sendable {
    /// A response's content.
    enum Body: Sendable {
        /// No content and no length, as for 304.
        case none
        /// Bytes in memory.
        case bytes(ByteBuffer)
        /// Some of a large content's bytes.
        case blob(any BlobReader, Range<Int64>)
        /// A content that is made while it is sent.
        case produced(any BodyProducer)

        /// The content's length in bytes; nil when it shows only at the end.
        var knownLength: Int64? {
            if case .produced(let producer) = self { producer.length } else { length }
        }

        /// The content's length in bytes, as far as it is known.
        var length: Int64 {
            switch self {
            case .none: 0
            case .produced(let producer): producer.length ?? 0
            case .bytes(let buffer): Int64(buffer.readableBytes)
            case .blob(_, let range): Int64(range.count)
            }
        }
    }

    /// The status.
    var status: HTTPResponse.Status
    /// The headers that this response has beyond those that every response has.
    var headers: HTTPFields = [:]
    /// The content.
    var body: Body
    /// The memory of the content until it is sent; nil when it is not counted.
    private(set) var lease: FairSemaphore.Lease?

    /// Creates a response.
    init(_ status: HTTPResponse.Status, headers: HTTPFields = [:], body: Body) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Acquires the memory for a large content until it is sent.
    ///
    /// - Throws: ``APIError`` 429 when the requester's answers use its whole share, 503 when all answers use up the
    ///   memory.
    mutating func hold(_ shares: SharedLimits, for requester: Requester) throws(APIError) {
        guard isLarge, lease == nil else { return }
        lease = try shares.answers.take(Int(body.length), for: requester)
    }

    /// The same with memory that was acquired before the content was made.
    func holding(_ lease: FairSemaphore.Lease) -> Response {
        var response = self
        lease.shrink(to: Int(body.length))
        if isLarge { response.lease = lease }
        return response
    }

    /// Whether it is sent piece by piece, no faster than the client receives it.
    var isStreamed: Bool {
        switch body {
        case .blob, .produced: true
        case .none, .bytes: lease != nil
        }
    }

    private var isLarge: Bool {
        if case .bytes(let buffer) = body { buffer.readableBytes > SharedLimits.smallAnswer } else { false }
    }

    /// 200 with a JSON text.
    static func json(_ value: some JSONWritable, status: HTTPResponse.Status = .ok) -> Response {
        json(value.json(), status: status)
    }

    /// A status with a JSON text that is written already.
    static func json(_ text: [UInt8], status: HTTPResponse.Status = .ok) -> Response {
        Response(status, headers: [.contentType: "application/json"], body: .bytes(ByteBuffer(bytes: text)))
    }

    /// A status with a JSON object of these members.
    static func object(status: HTTPResponse.Status = .ok, _ members: (inout JSONText) -> Void) -> Response {
        var text = JSONText()
        text.object(members)
        return json(text.bytes, status: status)
    }

    /// A refusal as the protocol words it, with the methods that are accepted when the request's was not.
    static func refusal(_ error: APIError, allowing methods: [HTTPRequest.Method] = []) -> Response {
        var response = json(error, status: status(error.status))
        if let seconds = error.retryAfter { response.headers[.retryAfter] = String(seconds) }
        if !methods.isEmpty { response.headers[.allow] = methods.map(\.rawValue).joined(separator: ", ") }
        return response
    }

    private static func status(_ code: Int) -> HTTPResponse.Status {
        switch code {
        case 406: HTTPResponse.Status(code: 406, reasonPhrase: "Not Acceptable")
        case 507: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
        default: HTTPResponse.Status(code: code)
        }
    }
}

extension HTTPField.Name {
    /// The request's identifier.
    static let requestID = known("X-Dropbox-Request-Id")
    /// The metadata of the file whose bytes are sent.
    static let metadata = known("X-Dropbox-Metadata")
    /// `incomplete` when a search in texts could not cover all of them.
    static let searchState = known("X-ByteClub-Search")
    /// HTTP/1.0's way to forbid caching.
    static let pragma = known("Pragma")

    /// A name that is known to be one.
    static func known(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("'\(text)' is no header name") }
        return name
    }
}

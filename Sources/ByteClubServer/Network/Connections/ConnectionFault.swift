import ByteClubCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// What a connection is told when there is no request that could be answered.
enum ConnectionFault {
    /// The most requests that may have come and have no answer yet.
    static let mostRequests = 8

    static let tooManyConnections = APIError(503, "the server has too many connections; try again", retryAfter: 5)
    static let slowHead = APIError(408, "the request's head took too long")
    static let slowBody = APIError(408, "the request's body was too slow")

    /// The refusal of what is no HTTP; nil for errors of another kind.
    static func refusal(for error: any Error) -> APIError? {
        if let fault = error as? RequestFault { return fault.refusal }
        if error is HTTP1TypeConversionError { return APIError(400, "the request is malformed") }
        guard let error = error as? HTTPParserError else { return nil }
        switch error {
        case .headerOverflow: return APIError(431, "the request's head is too large")
        case .invalidVersion: return APIError(505, "the server supports only HTTP/1")
        default: return APIError(400, "the request is malformed")
        }
    }
}

/// What is wrong with requests that a parser takes for good.
enum RequestFault: Error {
    /// Too many of them wait behind one whose answer is due.
    case tooManyWaiting
    /// There is no `Host`, several, or one that is no host; RFC 9112, 3.2.
    case host

    /// What the client is told.
    var refusal: APIError {
        switch self {
        case .tooManyWaiting:
            APIError(
                429, "too many pending requests on this connection; read answers before sending more", retryAfter: 1)
        case .host: APIError(400, "the request needs one Host header, which names a host")
        }
    }
}

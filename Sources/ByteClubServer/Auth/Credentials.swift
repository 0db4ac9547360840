import ByteClubCore
import HTTPTypes

/// The proof of a request's sender.
enum Credentials: Hashable, Sendable {
    /// An OAuth 2 bearer token.
    case bearer(String)
    /// OAuth 1.0, with the fields of the header, which the signature covers.
    case oauth1(OAuth1, header: [String: String])

    /// Finds the credentials of a request: the header first, then the parameters.
    ///
    /// - Throws: ``APIError`` 401 when there are none, 403 when they are malformed or of an unsupported kind.
    init(authorization: String?, parameters: Parameters) throws(APIError) {
        if let authorization {
            try self.init(header: authorization)
        } else if let token = parameters["access_token"] {
            self = .bearer(token)
        } else if parameters["oauth_consumer_key"] != nil || parameters["oauth_signature"] != nil {
            self = .oauth1(try OAuth1 { parameters[$0].map { ($0, $0) } }, header: [:])
        } else {
            throw APIError(401, "no access token was sent")
        }
    }

    /// The bearer token, or the key of the OAuth 1 token.
    var token: String {
        switch self {
        case .bearer(let token): token
        case .oauth1(let signed, _): signed.token ?? ""
        }
    }

    /// Whether they are of OAuth 1.
    var isOAuth1: Bool {
        if case .oauth1 = self { true } else { false }
    }

    /// Whether a request shows a bearer token, or a malformed one, outside of its form.
    ///
    /// A signature of OAuth 1 covers the form, and may itself be in it.
    static func precedeForm(of request: RoutedRequest) -> Bool {
        if let header = request.headers[.authorization] { return !header.lowercased().hasPrefix("oauth ") }
        return request.parameters["access_token"] != nil && request.parameters["oauth_consumer_key"] == nil
    }

    private init(header: String) throws(APIError) {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { throw APIError(403, "the Authorization header is malformed") }
        switch parts[0].lowercased() {
        case "bearer":
            let token = parts[1]
            guard token.utf8.allSatisfy(Self.isTokenCharacter) else {
                throw APIError(403, "the Authorization header is malformed")
            }
            self = .bearer(String(token))
        case "oauth":
            let values = try OAuth1.fields(of: parts[1])
            self = .oauth1(try OAuth1 { values[$0] }, header: values.mapValues { $0.decoded })
        default:
            throw APIError(403, "the Authorization header is neither Bearer nor OAuth")
        }
    }

    /// RFC 6750's alphabet.
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "-._~+/=".utf8.contains(byte)
        }
    }
}

import ByteClubCore
import Crypto
import FoundationEssentials

/// The parameters of an OAuth 1.0 request (RFC 5849 section 3.1).
struct OAuth1: Hashable, Sendable {
    /// How a request is signed.
    enum Method: String, Sendable {
        /// The secrets themselves (section 3.4.4).
        case plaintext = "PLAINTEXT"
        /// A digest over the request (section 3.4.2).
        case hmacSHA1 = "HMAC-SHA1"
    }

    /// The app's key.
    let consumerKey: String
    /// The token's key; nil before there is one.
    let token: String?
    /// How the request is signed.
    let method: Method
    /// The client's time in seconds since 1970; checked with HMAC-SHA1 only.
    let timestamp: String?
    /// A text that distinguishes the request from any other of that second.
    let nonce: String?
    /// The signature, decoded once.
    let signature: String
    /// The signature as it was sent: some clients encode it and some do not.
    let rawSignature: String

    /// Reads the parameters, each given decoded and as sent.
    ///
    /// - Throws: ``APIError`` 403 when one is missing or of an unsupported kind.
    init(_ value: (String) -> (decoded: String, raw: String)?) throws(APIError) {
        func required(_ name: String) throws(APIError) -> (decoded: String, raw: String) {
            guard let value = value(name), !value.decoded.isEmpty else {
                throw APIError(403, "the OAuth parameter \(name) is missing")
            }
            return value
        }
        if let version = value("oauth_version"), version.decoded != "1.0" {
            throw APIError(403, "this OAuth version is not supported; use 1.0")
        }
        guard let method = Method(rawValue: try required("oauth_signature_method").decoded) else {
            throw APIError(403, "this OAuth signature method is not supported; use HMAC-SHA1 or PLAINTEXT")
        }
        self.method = method
        consumerKey = try required("oauth_consumer_key").decoded
        token = value("oauth_token").flatMap { $0.decoded.isEmpty ? nil : $0.decoded }
        (signature, rawSignature) = try required("oauth_signature")
        let isDigest = method == .hmacSHA1
        timestamp = try isDigest ? required("oauth_timestamp").decoded : value("oauth_timestamp")?.decoded
        nonce = try isDigest ? required("oauth_nonce").decoded : value("oauth_nonce")?.decoded
    }

    /// Reads the header's `name="value"` fields, separated by a comma with or without a blank.
    ///
    /// - Throws: ``APIError`` 403 when they are malformed or repeated.
    static func fields(of header: Substring) throws(APIError) -> [String: (decoded: String, raw: String)] {
        var fields: [String: (decoded: String, raw: String)] = [:]
        for field in header.split(separator: ",") {
            let halves = field.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, halves[1].utf8.count >= 2, halves[1].first == "\"", halves[1].last == "\"",
                case let raw = String(halves[1].dropFirst().dropLast()),
                let decoded = PercentEncoding.decode(raw, plusIsBlank: false), !decoded.utf8.contains(0),
                fields.updateValue((decoded, raw), forKey: String(halves[0])) == nil
            else { throw APIError(403, "the Authorization header is malformed") }
        }
        return fields
    }

    /// Checks in constant time whether a request was signed with these secrets; `base` is called for a digest only.
    func isSigned(consumerSecret: String, tokenSecret: String, base: () -> String) -> Bool {
        let key = PercentEncoding.encode(consumerSecret) + "&" + PercentEncoding.encode(tokenSecret)
        let expected: String
        switch method {
        case .plaintext: expected = key
        case .hmacSHA1:
            let digest = HMAC<Insecure.SHA1>.authenticationCode(
                for: Array(base().utf8), using: SymmetricKey(data: Array(key.utf8)))
            expected = Data(digest).base64EncodedString()
        }
        let decoded = ConstantTime.equal(signature, expected)
        let raw = ConstantTime.equal(rawSignature, expected)
        return decoded || raw
    }
}

/// The text that a digest of OAuth 1.0 covers (RFC 5849 section 3.4.1).
enum SignatureBase {
    /// The base string of a request.
    ///
    /// `origin` is the scheme, host and non-default port that the client used, and `path` is as it was sent. The
    /// parameters are those in query, form and header, decoded; the signature and the realm are left out here.
    static func text(
        method: String, origin: String, path: String, parameters: [(name: String, value: String)]
    ) -> String {
        let pairs =
            parameters.lazy
            .filter { $0.name != "oauth_signature" && $0.name != "realm" }
            .map { (name: PercentEncoding.encode($0.name), value: PercentEncoding.encode($0.value)) }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
        let text = pairs.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        return [method.uppercased(), origin + path, text].map(PercentEncoding.encode).joined(separator: "&")
    }

    /// An origin without the port that its scheme has anyway, in lower case.
    static func normalized(_ origin: String) -> String {
        let text = origin.lowercased()
        for (scheme, port) in [("http://", ":80"), ("https://", ":443")]
        where text.hasPrefix(scheme) && text.hasSuffix(port) {
            return String(text.dropLast(port.count))
        }
        return text
    }
}

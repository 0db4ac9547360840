import HTTPTypes

/// Digest authentication with one nonce of a server (RFC 7616).
///
/// Supported are MD5 and SHA-256, with and without `-sess`, with the quality of protection `auth` or, as in RFC 2069,
/// none. Not supported are SHA-512-256, which few servers offer, and `auth-int`, which would need the whole body before
/// its first byte is sent.
struct DigestAnswer: Sendable {
    /// A hash function that a challenge may ask for.
    enum Algorithm: String, Sendable {
        case md5 = "MD5"
        case sha256 = "SHA-256"

        func digits(_ text: String) -> String {
            let bytes = Array(text.utf8)
            return (self == .md5 ? Checksum.md5(bytes) : Checksum.sha256(bytes)).hexadecimal
        }
    }

    let demand: Demand
    private let credential: PasswordCredential
    /// The client's nonce, one for each nonce of the server.
    ///
    /// So the secret of the `-sess` variants is the same whether a server computes it once or for each request.
    private let clientNonce: String
    private let secret: String
    /// The number of requests that this nonce was used for.
    private(set) var count: UInt32 = 0

    init(_ demand: Demand, _ credential: PasswordCredential, clientNonce: String = DigestAnswer.random()) {
        self.demand = demand
        self.credential = credential
        self.clientNonce = clientNonce
        let base = demand.algorithm.digits("\(credential.user):\(demand.realm):\(credential.password)")
        secret =
            demand.isSession ? demand.algorithm.digits("\(base):\(demand.nonce):\(clientNonce)") : base
    }

    /// The value of the field for the next request.
    ///
    /// - Parameters:
    ///   - method: The request's method.
    ///   - target: The target as in the request line: path and query, or for a proxy the whole address.
    /// - Returns: The scheme and its parameters.
    mutating func field(_ method: HTTPRequest.Method, _ target: String) -> String {
        let hash = demand.algorithm.digits
        // A counter that starts again is refused as a repetition, and the server gives another nonce.
        count &+= 1
        let number = String(count, radix: 16)
        let digits = String(repeating: "0", count: 8 - number.utf8.count) + number
        let work = hash("\(method.rawValue):\(target)")
        let response =
            demand.hasQuality
            ? hash("\(secret):\(demand.nonce):\(digits):\(clientNonce):auth:\(work)")
            : hash("\(secret):\(demand.nonce):\(work)")
        var parts = [userPart, "realm=\(Self.quoted(demand.realm))", "uri=\(Self.quoted(target))"]
        if demand.namesAlgorithm {
            parts.append("algorithm=\(demand.algorithm.rawValue)\(demand.isSession ? "-sess" : "")")
        }
        parts.append("nonce=\(Self.quoted(demand.nonce))")
        if demand.hasQuality { parts += ["nc=\(digits)", "cnonce=\(Self.quoted(clientNonce))", "qop=auth"] }
        parts.append("response=\"\(response)\"")
        if let opaque = demand.opaque { parts.append("opaque=\(Self.quoted(opaque))") }
        if demand.hashesUser { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    /// The user's name: as it is, hashed, or in the form for other letters than ASCII's (RFC 8187).
    private var userPart: String {
        let user = credential.user
        if demand.hashesUser { return "username=\"\(demand.algorithm.digits("\(user):\(demand.realm)"))\"" }
        if user.utf8.allSatisfy({ $0 < 0x80 }) { return "username=\(Self.quoted(user))" }
        let digits = Array("0123456789ABCDEF".utf8)
        let encoded = user.utf8.flatMap { byte -> [UInt8] in
            byte.isAlphanumeric || "-._~".utf8.contains(byte)
                ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return "username*=UTF-8''" + String(decoding: encoded, as: UTF8.self)
    }

    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        return String(decoding: bytes + [UInt8(ascii: "\"")], as: UTF8.self)
    }

    /// 128 random bits as text.
    static func random() -> String { UInt64.random(in: 0 ... .max).digits + UInt64.random(in: 0 ... .max).digits }
}

extension DigestAnswer {
    /// What a Digest challenge asks for.
    struct Demand: Sendable, Hashable {
        var algorithm = Algorithm.md5
        var isSession = false
        /// Whether the challenge names its algorithm, so that the answer does.
        var namesAlgorithm = false
        var realm: String
        var nonce: String
        var opaque: String?
        /// Whether answers have a counter and a client's nonce (`qop=auth`).
        var hasQuality = false
        var hashesUser = false
        /// Whether the last answer was right but for an outdated nonce.
        var isStale = false
        /// The addresses for which the credential is valid; nil for the whole server.
        var domain: String?

        private static let longestNonce = 4096

        /// Reads a challenge; nil if it is of another scheme or cannot be answered.
        init?(_ challenge: AuthenticationChallenge) {
            let parameters = challenge.parameters
            guard challenge.scheme == "digest", let realm = parameters["realm"], let nonce = parameters["nonce"],
                nonce.utf8.count <= Self.longestNonce
            else { return nil }
            self.realm = realm
            self.nonce = nonce
            opaque = parameters["opaque"]
            domain = parameters["domain"]
            hashesUser = parameters["userhash"]?.lowercased() == "true"
            isStale = parameters["stale"]?.lowercased() == "true"
            if let name = parameters["algorithm"]?.uppercased() {
                isSession = name.hasSuffix("-SESS")
                guard let known = Algorithm(rawValue: String(isSession ? name.dropLast(5) : name[...])) else {
                    return nil
                }
                (algorithm, namesAlgorithm) = (known, true)
            }
            if let qualities = parameters["qop"]?.lowercased() {
                hasQuality = qualities.split(whereSeparator: { ", \t".contains($0) }).contains("auth")
                if !hasQuality { return nil }
            } else if isSession {
                return nil
            }
        }
    }
}

extension PasswordCredential {
    /// The value of the field for Basic authentication, in UTF-8 (RFC 7617).
    var basicField: String { "Basic " + Array("\(user):\(password)".utf8).base64 }
}

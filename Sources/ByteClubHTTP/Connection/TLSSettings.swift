/// A certificate with its private key, by which the client authenticates to servers.
///
/// It is sent only to the origin of the task's request, not to origins that a redirect leads to.
public struct ClientCertificate: Sendable {
    /// A PEM file with the certificate, followed by the intermediate certificates.
    public var certificateFile: String

    /// A PEM file with the private key.
    public var keyFile: String

    /// The passphrase of the private key, or nil.
    public var passphrase: Passphrase?

    /// Creates a reference to the files, which are read when a connection is made.
    ///
    /// - Parameters:
    ///   - certificateFile: See ``certificateFile``.
    ///   - keyFile: See ``keyFile``; nil if the certificate's file holds the key.
    ///   - passphrase: See ``passphrase``.
    public init(certificateFile: String, keyFile: String? = nil, passphrase: Passphrase? = nil) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile ?? certificateFile
        self.passphrase = passphrase
    }
}

/// A secret text that descriptions, dumps and logs do not show.
public struct Passphrase: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let read: @Sendable () throws -> String

    /// Creates a passphrase from its text.
    public init(_ text: String) { read = { text } }

    /// Creates a passphrase from a function that fetches it, for example from a keyring.
    ///
    /// It is called once for each session, on the thread that creates the session; an error it throws fails the
    /// session.
    public init(reading text: @escaping @Sendable () throws -> String) { read = text }

    /// The text.
    func reveal() throws -> String { try read() }

    /// A placeholder for the text.
    public var description: String { "(secret)" }

    /// A placeholder for the text.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The SHA-256 of a server's public key, which identifies the server whatever its certificate contains.
///
/// The key is the certificate's `SubjectPublicKeyInfo` in DER, as in RFC 7469 and in curl's `--pinnedpubkey`.
public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
    /// 32 bytes in Base64 without the `=` at its end.
    private let digits: String

    /// Parses `sha256//` or `sha256=` followed by the hash in Base64 or URL-safe Base64; nil for other text.
    public init?(_ text: String) {
        guard let mark = ["sha256//", "sha256="].first(where: text.hasPrefix) else { return nil }
        var rest = text.dropFirst(mark.count)
        if rest.last == "=" { rest.removeLast() }
        digits = String(rest.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        let isBase64 = digits.utf8.allSatisfy { $0.isAlphanumeric || "+/".utf8.contains($0) }
        // 43 digits hold 258 bits, of which the last two must be zero.
        guard isBase64, digits.utf8.count == 43, let last = digits.last, "AEIMQUYcgkosw048".contains(last) else {
            return nil
        }
    }

    /// The pin in libcurl's format: `sha256//` and Base64.
    public var description: String { "sha256//\(digits)=" }
}

/// A version of TLS.
public enum TLSVersion: Int, Sendable, Hashable, Comparable {
    /// TLS 1.2 (RFC 5246).
    case v12 = 12
    /// TLS 1.3 (RFC 8446).
    case v13 = 13

    /// Whether one version is older than the other.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
}

/// The version of HTTP that a session uses.
public enum HTTPVersionPreference: Sendable, Hashable {
    /// HTTP/2 over https if the server offers it, except where HTTP/1.1 performs better: for uploads with libcurl
    /// before 8.2, and under a rate limit.
    case automatic
    /// HTTP/1.1 only.
    case http1
    /// HTTP/2 over https whenever the server offers it.
    case http2
}

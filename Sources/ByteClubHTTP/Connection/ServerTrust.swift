/// A server whose certificate was verified, about which a ``SessionConfiguration/trustEvaluator`` decides.
public struct ServerTrust: Sendable, Hashable {
    /// The host of the request, in lower case; an IPv6 address has its brackets.
    public var host: String

    /// The port of the request.
    public var port: Int

    /// The certificates by which the server was verified, in DER: its own first, then that of each issuer, the trusted one
    /// last.
    ///
    /// Certificates that the server sent without being part of this chain are not in it. With
    /// ``SessionConfiguration/pinnedKeys`` it is the server's own alone, since the others are not verified.
    public var certificates: [[UInt8]]

    /// The public key of the server's own certificate.
    public var publicKey: PublicKeyPin

    /// Creates a description of a server, for example to test an evaluator.
    ///
    /// - Parameters:
    ///   - host: See ``host``.
    ///   - port: See ``port``.
    ///   - certificates: See ``certificates``.
    ///   - publicKey: See ``publicKey``.
    public init(host: String, port: Int, certificates: [[UInt8]], publicKey: PublicKeyPin) {
        self.host = host
        self.port = port
        self.certificates = certificates
        self.publicKey = publicKey
    }
}

extension PublicKeyPin {
    /// The pin of a key, given as its `SubjectPublicKeyInfo` in DER.
    init?(key: [UInt8]) { self.init("sha256//" + Checksum.sha256(key).base64) }
}

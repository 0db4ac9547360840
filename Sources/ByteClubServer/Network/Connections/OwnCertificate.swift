import Crypto

/// An X.509 certificate that is signed by its own key (RFC 5280 section 4.1).
///
/// It is for a server alone, for some names, and without an end: members recognise its key.
struct OwnCertificate {
    /// ECDSA with SHA-256.
    private static let algorithm = DER.sequence(.identifier(1, 2, 840, 10045, 4, 3, 2))
    private static let serverAuthentication = DER.identifier(1, 3, 6, 1, 5, 5, 7, 3, 1)
    private static let name = DER.sequence(
        DER(.set, DER.sequence(.identifier(2, 5, 4, 3), DER(.text, "ByteClub".utf8)).bytes))

    /// The key that signs, and that is signed.
    let key: P256.Signing.PrivateKey
    /// The names and addresses of the server.
    let hosts: [String]

    /// The certificate in DER.
    func encoded() throws -> [UInt8] {
        // Until the time that denotes no end.
        let validity = DER.sequence(DER(.time, "260101000000Z".utf8), DER(.longTime, "99991231235959Z".utf8))
        let body = DER.sequence(
            // 2 is the third version.
            DER(.integer, [2]).explicit(0), DER(.integer, Self.serialNumber()), Self.algorithm, Self.name, validity,
            Self.name, DER(encoded: key.publicKey.derRepresentation), extensions.explicit(3))
        let signature = try key.signature(for: body.bytes).derRepresentation
        return DER.sequence(body, Self.algorithm, DER(.bits, [0] + signature)).bytes
    }

    private var extensions: DER {
        .sequence(
            // Basic constraints, of which there are none: it vouches for no other certificate.
            Self.entry(19, isCritical: true, .sequence()),
            // The use of the key: of eight bits the first, for signatures.
            Self.entry(15, isCritical: true, DER(.bits, [7, 0b1000_0000])),
            Self.entry(37, isCritical: false, .sequence(Self.serverAuthentication)),
            Self.entry(17, isCritical: false, DER(.sequence, hosts.flatMap { Self.alternative($0).bytes })))
    }

    /// The alternative of `GeneralName` for an address or for a name.
    private static func alternative(_ host: String) -> DER {
        IPAddress(host).map { DER(0x87, $0.bytes) } ?? DER(0x82, Array(host.utf8))
    }

    /// One extension, by its number in RFC 5280 section 4.2.1.
    private static func entry(_ number: UInt32, isCritical: Bool, _ value: DER) -> DER {
        let name = DER.identifier(2, 5, 29, number)
        let content = DER(.octets, value.bytes)
        return isCritical ? .sequence(name, DER(.boolean, [0xFF]), content) : .sequence(name, content)
    }

    /// 127 bits by chance, above zero.
    private static func serialNumber() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return [UInt8.random(in: 1...127, using: &generator)]
            + (1..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}

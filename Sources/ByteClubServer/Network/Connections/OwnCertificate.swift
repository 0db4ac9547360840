import Crypto
import SwiftASN1

/// An X.509 certificate that is signed by its own key (RFC 5280 section 4.1).
///
/// It is for a server alone, for some names, and without an end: members recognise its key.
struct OwnCertificate {
    private static let ecdsaWithSHA256: ASN1ObjectIdentifier = [1, 2, 840, 10045, 4, 3, 2]
    private static let commonName: ASN1ObjectIdentifier = [2, 5, 4, 3]
    private static let keyUsage: ASN1ObjectIdentifier = [2, 5, 29, 15]
    private static let alternativeNames: ASN1ObjectIdentifier = [2, 5, 29, 17]
    private static let basicConstraints: ASN1ObjectIdentifier = [2, 5, 29, 19]
    private static let extendedKeyUsage: ASN1ObjectIdentifier = [2, 5, 29, 37]
    private static let serverAuthentication: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 3, 1]

    /// The key that signs, and that is signed.
    let key: P256.Signing.PrivateKey
    /// The names and addresses of the server.
    let hosts: [String]

    /// The certificate in DER.
    func encoded() throws -> [UInt8] {
        let body = try Self.sequence { coder in
            coder.appendConstructedNode(identifier: Self.explicit(0)) { coder in
                // 2 is the third version.
                coder.appendPrimitiveNode(identifier: .integer) { $0.append(2) }
            }
            coder.appendPrimitiveNode(identifier: .integer) { $0 += Self.serialNumber() }
            try Self.algorithm(into: &coder)
            try Self.name(into: &coder)
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(UTCTime(year: 2026, month: 1, day: 1, hours: 0, minutes: 0, seconds: 0))
                // The time that denotes no end.
                try coder.serialize(
                    GeneralizedTime(
                        year: 9999, month: 12, day: 31, hours: 23, minutes: 59, seconds: 59, fractionalSeconds: 0))
            }
            try Self.name(into: &coder)
            coder.serializeRawBytes(key.publicKey.derRepresentation)
            try coder.appendConstructedNode(identifier: Self.explicit(3), extensions)
        }
        let signature = try key.signature(for: body).derRepresentation
        return try Self.sequence { coder in
            coder.serializeRawBytes(body)
            try Self.algorithm(into: &coder)
            try coder.serialize(ASN1BitString(bytes: Array(signature)[...]))
        }
    }

    private func extensions(into coder: inout DER.Serializer) throws {
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            // An empty one: it vouches for no other certificate.
            try Self.add(Self.basicConstraints, isCritical: true, Self.sequence { _ in }, to: &coder)
            var usage = DER.Serializer()
            try usage.serialize(ASN1BitString(bytes: [0b1000_0000], paddingBits: 7))
            try Self.add(Self.keyUsage, isCritical: true, usage.serializedBytes, to: &coder)
            try Self.add(
                Self.extendedKeyUsage, isCritical: false,
                Self.sequence { try $0.serialize(Self.serverAuthentication) }, to: &coder)
            try Self.add(Self.alternativeNames, isCritical: false, Self.sequence(names), to: &coder)
        }
    }

    private func names(into coder: inout DER.Serializer) {
        for host in hosts {
            let address = IPAddress(host)
            // The alternatives of GeneralName for an address and for a name.
            let identifier = ASN1Identifier(tagWithNumber: address == nil ? 2 : 7, tagClass: .contextSpecific)
            coder.appendPrimitiveNode(identifier: identifier) { $0 += address?.bytes ?? Array(host.utf8) }
        }
    }

    private static func add(
        _ name: ASN1ObjectIdentifier, isCritical: Bool, _ value: [UInt8], to coder: inout DER.Serializer
    ) throws {
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(name)
            if isCritical { try coder.serialize(true) }
            try coder.serialize(ASN1OctetString(contentBytes: value[...]))
        }
    }

    private static func name(into coder: inout DER.Serializer) throws {
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.appendConstructedNode(identifier: .set) { coder in
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.serialize(commonName)
                    try coder.serialize(ASN1UTF8String("ByteClub"))
                }
            }
        }
    }

    private static func algorithm(into coder: inout DER.Serializer) throws {
        try coder.appendConstructedNode(identifier: .sequence) { try $0.serialize(ecdsaWithSHA256) }
    }

    private static func sequence(_ body: (inout DER.Serializer) throws -> Void) throws -> [UInt8] {
        var coder = DER.Serializer()
        try coder.appendConstructedNode(identifier: .sequence, body)
        return coder.serializedBytes
    }

    private static func explicit(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }

    /// 127 bits by chance, above zero.
    private static func serialNumber() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return [UInt8.random(in: 1...127, using: &generator)]
            + (1..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}

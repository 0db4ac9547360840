import Crypto
import FoundationEssentials
import Glibc
import NIOSSL
import SwiftASN1

/// The certificate that a server makes for itself, with its private key, in one file of the data directory.
///
/// It is made once. Nobody vouches for it: members know the server by its public key, which their links hold.
struct SelfSignedCertificate {
    /// The file's name in the data directory.
    static let fileName = "tls.pem"
    /// Where it is.
    let path: String
    /// The SHA-256 of its public key (as `SubjectPublicKeyInfo`), in the Base64 of addresses without its `=`.
    let pin: String

    /// Takes the certificate of a data directory, or makes one when there is none.
    ///
    /// - Parameters:
    ///   - directory: The data directory, which nobody else serves.
    ///   - hosts: The names and addresses by which the server is reached, besides those of its own machine.
    /// - Throws: ``StorageError`` as the disk says, `NIOSSLError` when what is there is no certificate.
    init(in directory: String, for hosts: [String]) throws {
        path = directory + "/" + Self.fileName
        if !Directory.holds(path) { try Self.write(try Self.make(hosts), to: path, in: directory) }
        guard let certificate = try NIOSSLCertificate.fromPEMFile(path).first else {
            throw StorageError(.damaged, "'\(path)' contains no certificate; move it away to have a new one created")
        }
        let hash = SHA256.hash(data: try certificate.extractPublicKey().toSPKIBytes())
        pin = String(
            Data(hash).base64EncodedString().compactMap { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 == "=" ? nil : $0 })
    }

    /// What the server is configured with.
    var files: ClubConfiguration.CertificateFiles {
        ClubConfiguration.CertificateFiles(certificate: path, key: path)
    }

    private static func make(_ hosts: [String]) throws -> String {
        var names: [String] = []
        for host in hosts + ["localhost", "127.0.0.1", "::1"] {
            let address = IPAddress(host)
            let name = address?.description ?? host
            if address?.isUnspecified != true, !names.contains(name) { names.append(name) }
        }
        let key = P256.Signing.PrivateKey()
        let certificate = try OwnCertificate(key: key, hosts: names).encoded()
        let text = PEMDocument(type: "CERTIFICATE", derBytes: certificate).pemString
        return text + "\n" + key.pemRepresentation + "\n"
    }

    private static func write(_ text: String, to path: String, in directory: String) throws {
        let draft = path + ".new"
        let file = try Descriptor(path: draft, flags: O_RDWR | O_CREAT | O_TRUNC, mode: 0o600)
        try unsafe Array(text.utf8).withUnsafeBytes { try unsafe file.write($0, at: 0) }
        try file.syncAll()
        guard unsafe rename(draft, path) == 0 else { throw StorageError(errno: errno, "cannot create '\(path)'") }
        try Directory.sync(directory)
    }
}

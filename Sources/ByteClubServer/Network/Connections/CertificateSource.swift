import ByteClubFiles
import Crypto
import FoundationEssentials
import Glibc
import NIOSSL
import Synchronization

/// The certificate of new connections, read from files again when asked; open connections keep theirs.
final class CertificateSource: Sendable {
    /// The suites of TLS 1.2 with forward secrecy and authenticated encryption, which all suites of TLS 1.3 have.
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    private let files: ClubConfiguration.CertificateFiles
    private let context: Mutex<NIOSSLContext>

    /// Reads the files.
    ///
    /// - Throws: `NIOSSLError` when they are missing, malformed or do not belong together.
    init(files: ClubConfiguration.CertificateFiles) throws {
        self.files = files
        context = Mutex(try Self.read(files))
    }

    /// The context for new connections.
    var current: NIOSSLContext { context.withLock { $0 } }

    /// Reads the files again; when that fails, the certificate stays as it was.
    ///
    /// - Throws: `NIOSSLError` as ``init(files:)``.
    func reload() throws {
        let fresh = try Self.read(files)
        context.withLock { $0 = fresh }
    }

    private static func read(_ files: ClubConfiguration.CertificateFiles) throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(files.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem)))
        tls.minimumTLSVersion = .tlsv12
        tls.cipherSuiteValues = cipherSuites
        tls.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: tls)
    }
}

/// The self-signed certificate of a server, with its private key, in one file of the data directory.
///
/// It is made once. No authority vouches for it: members recognise the server by its public key, which their links
/// hold.
struct SelfSignedCertificate {
    /// The file's name in the data directory.
    static let fileName = "tls.pem"
    /// Where it is.
    let path: String
    /// The SHA-256 of its public key (as `SubjectPublicKeyInfo`), in the Base64 of addresses without its `=`.
    let pin: String

    /// Loads the certificate of a data directory, or makes one when there is none.
    ///
    /// - Parameters:
    ///   - directory: The data directory, which no other process serves.
    ///   - hosts: The names and addresses of the server, besides those of its own machine.
    /// - Throws: ``StorageError`` of the disk, `NIOSSLError` when the file is no certificate.
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

    /// The files for the server's configuration.
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
        let lines = Data(certificate).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n\(key.pemRepresentation)\n"
    }

    private static func write(_ text: String, to path: String, in directory: String) throws {
        let draft = path + ".new"
        let file = try Descriptor(path: draft, flags: O_RDWR | O_CREAT | O_TRUNC, mode: 0o600)
        try file.write(Array(text.utf8), at: 0)
        try file.sync()
        guard unsafe rename(draft, path) == 0 else { throw StorageError(errno: errno, "cannot create '\(path)'") }
        try Directory.sync(directory)
    }
}

import NIOSSL
import Synchronization

/// The certificate of new connections, read from files again when asked; open connections keep theirs.
final class CertificateSource: Sendable {
    /// Those of TLS 1.2 that keep what was said secret when the key is lost, and that authenticate what they encrypt;
    /// those of TLS 1.3 all do.
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

    /// What new connections use.
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

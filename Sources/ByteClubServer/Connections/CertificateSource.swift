import NIOSSL
import Synchronization

/// The certificate of new connections, read from files again when asked; open connections keep theirs.
final class CertificateSource: Sendable {
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
        tls.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: tls)
    }
}

import CLibcurl

/// Reads the certificates on a handle's present connection; to be used within one call of a callback.
struct CertificateReader {
    /// Why there is nothing to read.
    struct Failure: Error {
        var code = TransferError.Code.tls
        var message = "the server's certificates cannot be read"
    }

    private static let most = 32
    private static let digestLength = 32

    private let easy: EasyHandle
    private let onlyOwn: Bool
    private let count: Int

    /// Finds the certificates by which the server was verified.
    ///
    /// - Parameters:
    ///   - easy: A handle with a connection.
    ///   - onlyOwn: Whether only the server's own certificate is read, verified or not.
    /// - Throws: If there are none, or too many.
    init(_ easy: EasyHandle, onlyOwn: Bool) throws(Failure) {
        (self.easy, self.onlyOwn) = (easy, onlyOwn)
        var first: UnsafeRawPointer?
        count = Int(unsafe byteclub_curl_certificates(easy.pointer, onlyOwn, 0, &first))
        if count < 0 {
            throw Failure(code: .libraryMissing, message: "a trust evaluator needs a libcurl that uses OpenSSL")
        }
        guard (1...Self.most).contains(count) else { throw Failure() }
    }

    /// The SHA-256 of each certificate, one after the other.
    func digests() throws(Failure) -> [UInt8] {
        var all: [UInt8] = []
        all.reserveCapacity(count * Self.digestLength)
        var digest = [UInt8](repeating: 0, count: Self.digestLength)
        for index in 0..<count {
            var certificate: UnsafeRawPointer?
            _ = unsafe byteclub_curl_certificates(easy.pointer, onlyOwn, Int32(index), &certificate)
            guard unsafe byteclub_certificate_digest(certificate, &digest) else { throw Failure() }
            all += digest
        }
        return all
    }

    /// Each certificate in DER.
    func certificates() throws(Failure) -> [[UInt8]] {
        var all: [[UInt8]] = []
        for index in 0..<count { all.append(try bytes(ofCertificate: index)) }
        return all
    }

    /// The key of the server's own certificate.
    func publicKey() throws(Failure) -> PublicKeyPin {
        guard let pin = PublicKeyPin(key: try bytes(ofCertificate: 0, onlyKey: true)) else { throw Failure() }
        return pin
    }

    private func bytes(ofCertificate index: Int, onlyKey: Bool = false) throws(Failure) -> [UInt8] {
        var certificate: UnsafeRawPointer?
        _ = unsafe byteclub_curl_certificates(easy.pointer, onlyOwn, Int32(index), &certificate)
        let length = unsafe byteclub_certificate_bytes(certificate, onlyKey, nil)
        guard length > 0 else { throw Failure() }
        var bytes = [UInt8](repeating: 0, count: Int(length))
        guard unsafe byteclub_certificate_bytes(certificate, onlyKey, &bytes) == length else { throw Failure() }
        return bytes
    }
}

/// The certificate by which a client tells a server who it is, and the key it proves that with.
///
/// It is offered to the origin that a task's request is for, and to no other one that a redirect leads to.
public struct ClientCertificate: Sendable {
    /// A PEM file with the certificate, and those that vouch for it behind it.
    public var certificateFile: String

    /// A PEM file with the private key.
    public var keyFile: String

    /// What the key is encrypted with, or nil.
    public var passphrase: Passphrase?

    /// Names the files; they are read when a connection is made.
    ///
    /// - Parameters:
    ///   - certificateFile: See ``certificateFile``.
    ///   - keyFile: See ``keyFile``; nil when the key is in the certificate's file.
    ///   - passphrase: See ``passphrase``.
    public init(certificateFile: String, keyFile: String? = nil, passphrase: Passphrase? = nil) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile ?? certificateFile
        self.passphrase = passphrase
    }
}

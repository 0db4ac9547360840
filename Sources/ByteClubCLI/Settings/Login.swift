import ByteClubCore
import ByteClubHTTP

/// All that is needed to speak with a club's server.
struct Login: Hashable, Sendable {
    /// Whom to speak with.
    var server: ServerAddress
    /// The bearer token.
    var token: String
    /// The member's name as it was when the token was stored; nil for a token that is not.
    var member: String?
    /// The shared folder's path on the server.
    var folder: RemotePath
    /// Whether somebody has named the folder, be it in a file of settings.
    var isFolderNamed: Bool
    /// A PEM file of authorities to trust instead of the system's.
    var certificateAuthorityFile: String?
    /// The public keys that the server may have, one of which it must have; empty for any.
    var pinnedKeys: Set<PublicKeyPin>
    /// Whether http is allowed to hosts other than this one.
    var allowsInsecureHTTP: Bool

    /// The folder for notes unless said otherwise.
    static let defaultFolder = "/byteclub"

    /// Where the notes are.
    var notes: RemotePath { folder }

    /// Where the photos are.
    var photos: RemotePath {
        get throws(PathError) { try folder.appending("photos") }
    }

    /// Puts settings and the stored credentials together.
    ///
    /// A stored token is only for the server that it was stored for.
    init(settings: Settings, credentials: Credentials?) throws {
        guard let text = settings.server ?? credentials?.server else {
            throw Failure(.configuration, "no server configured; run 'byteclub login URL' or set BYTECLUB_SERVER")
        }
        allowsInsecureHTTP = settings.allowsInsecureHTTP ?? credentials?.allowsInsecureHTTP ?? false
        server = try ServerAddress(text, allowsInsecureHTTP: allowsInsecureHTTP)
        if let given = settings.token {
            token = try Token.check(given, "BYTECLUB_TOKEN")
        } else if let credentials, credentials.server == server.origin {
            token = try Token.check(credentials.token, "the stored token")
            member = credentials.member
        } else {
            throw Failure(.notAuthorised, "you are not signed in to \(server); run 'byteclub login \(server)'")
        }
        do {
            folder = try RemotePath(settings.folder ?? Self.defaultFolder)
        } catch {
            throw Failure(.configuration, "invalid folder '\(Failure.line(settings.folder ?? ""))': \(error.message)")
        }
        isFolderNamed = settings.folder != nil
        if folder.isRoot {
            throw Failure(.configuration, "invalid folder '/': it cannot be the root; use \(Self.defaultFolder)")
        }
        let stored = credentials?.server == server.origin ? credentials : nil
        var trust = settings
        if settings.certificateAuthorityFile == nil, settings.pin == nil {
            (trust.certificateAuthorityFile, trust.pin) = (stored?.certificateAuthorityFile, stored?.pin)
        }
        certificateAuthorityFile = trust.certificateAuthorityFile
        pinnedKeys = try trust.pinnedKeys()
        if !pinnedKeys.isEmpty, server.origin.hasPrefix("http:") {
            throw Failure(.configuration, "'\(server)' does not use https, so it has no key; omit the pin")
        }
        if let file = certificateAuthorityFile, !LocalFile.exists(file) {
            throw Failure(.configuration, "cannot read '\(file)': No such file or directory")
        }
    }
}

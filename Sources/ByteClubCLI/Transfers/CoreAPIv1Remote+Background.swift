import ByteClubHTTP
import ByteClubRemotes

extension CoreAPIv1Remote {
    /// A club's server as a work of the daemon speaks with it, as fast as the daemon may be.
    ///
    /// - Parameters:
    ///   - login: Who speaks, and with which server.
    ///   - work: The work.
    ///   - pieces: How large the pieces of uploads are, as other works have learned.
    /// - Returns: The server.
    /// - Throws: What keeps a session from being opened.
    static func background(
        _ login: Login, _ work: WorkContext, pieces: UploadPieces = UploadPieces()
    ) throws -> CoreAPIv1Remote {
        let configuration = sessionConfiguration(
            token: login.token, certificateAuthorityFile: login.certificateAuthorityFile,
            pinnedKeys: login.pinnedKeys)
        var remote = try CoreAPIv1Remote(
            origin: login.server.origin, api: work.session(configuration, name: "photo"),
            allowsInsecureHTTP: login.allowsInsecureHTTP)
        remote.rateLimit = work.options.rateLimit
        remote.pieces = pieces
        return remote
    }
}

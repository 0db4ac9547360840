import ByteClubHTTP
import ByteClubRemotes

extension CoreAPIv1Remote {
    /// A club's server as a work of the daemon speaks with it, as fast as the daemon may be.
    static func background(_ login: Login, _ work: WorkContext) throws -> CoreAPIv1Remote {
        let configuration = sessionConfiguration(
            token: login.token, certificateAuthorityFile: login.certificateAuthorityFile,
            pinnedKeys: login.pinnedKeys)
        var remote = try CoreAPIv1Remote(
            origin: login.server.origin, api: work.session(configuration, name: "photo"),
            allowsInsecureHTTP: login.allowsInsecureHTTP)
        remote.rateLimit = work.options.rateLimit
        return remote
    }
}

/// What `login` stores: a token and the server that it is for.
struct Credentials: Hashable, Sendable, Codable {
    /// The server's origin.
    var server: String
    /// The bearer token.
    var token: String
    /// The member's name when the token was checked.
    var member: String
    /// A PEM file of authorities to trust instead of the system's.
    var certificateAuthorityFile: String?
    /// Whether `login` was told that http will do.
    var allowsInsecureHTTP: Bool?

    private enum CodingKeys: String, CodingKey {
        case server, token, member, certificateAuthorityFile = "ca_file", allowsInsecureHTTP = "insecure_http"
    }
}

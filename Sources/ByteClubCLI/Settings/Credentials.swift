import ByteClubCore

/// What `login` stores: a token and the server that it is for.
struct Credentials: Hashable, Sendable, Encodable {
    /// The server's origin.
    var server: String
    /// The bearer token.
    var token: String
    /// The member's name when the token was checked.
    var member: String
    /// A PEM file of authorities to trust instead of the system's.
    var certificateAuthorityFile: String?
    /// The only public key that the server may have.
    var pin: String?
    /// Whether `login` was told that http will do.
    var allowsInsecureHTTP: Bool?

    private enum CodingKeys: String, CodingKey {
        case server, token, member, certificateAuthorityFile = "ca_file", pin, allowsInsecureHTTP = "insecure_http"
    }
}

extension Credentials: JSONReadable {
    /// Reads the file's object.
    init(json: inout JSONReader) throws(JSONError) {
        var (server, token, member): (String?, String?, String?)
        var (certificateAuthorityFile, pin): (String?, String?)
        var allowsInsecureHTTP: Bool?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "server": server = try json.value()
            case "token": token = try json.value()
            case "member": member = try json.value()
            case "ca_file": certificateAuthorityFile = try json.optional()
            case "pin": pin = try json.optional()
            case "insecure_http": allowsInsecureHTTP = try json.optional()
            default: try json.skip()
            }
        }
        guard let server else { throw JSONError(.missing("server")) }
        guard let token else { throw JSONError(.missing("token")) }
        guard let member else { throw JSONError(.missing("member")) }
        self.init(
            server: server, token: token, member: member, certificateAuthorityFile: certificateAuthorityFile,
            pin: pin, allowsInsecureHTTP: allowsInsecureHTTP)
    }
}

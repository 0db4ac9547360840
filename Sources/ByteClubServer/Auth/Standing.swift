import ByteClubCore

/// What lets the sender of a request in: once it is gone, the request ends, however far it has come.
enum Standing: Hashable, Sendable {
    /// A member, named by a cursor where the protocol asks for no token.
    case member(Int64)
    /// A device, by the token that it showed.
    case device(token: String)
    /// A session in a browser, by the secret of its cookie.
    case session(String)
    /// A link, by its secret.
    case link(Link.Purpose, String)

    /// What is told to who was let in when the request began, and is let in no more.
    static let refusal = APIError(401, "access was revoked during the request")
}

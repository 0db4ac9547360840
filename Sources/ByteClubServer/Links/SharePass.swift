import ByteClubCore
import Crypto

/// What a browser keeps that was told a link's password: good for that link and that password alone.
struct SharePass: Sendable {
    private let value: String
    private let path: String

    /// The pass of a link, sealed with the server's key.
    init(_ link: Link, _ password: PasswordHash, key: SymmetricKey) {
        let text = "share \(link.secret) \(password.text)"
        value = Hexadecimal.encode(Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)))
        path = "/s/" + link.secret
    }

    /// Whether a request's cookies show it.
    func isShown(by request: RoutedRequest, _ site: WebSite) -> Bool {
        site.value(of: .sharePass, in: request).map { ConstantTime.equal($0, value) } ?? false
    }

    /// The cookie to set, which ends with the browser and is sent for this link alone.
    func cookie(for request: RoutedRequest, _ site: WebSite) -> String {
        site.cookie(value, .sharePass, for: request, path: path)
    }
}

import ByteClubCore
import Crypto

/// A browser in which a name has signed in, by a cookie that it keeps after the session has ended.
///
/// The cookie lets nobody in. It only keeps others' guesses at that name from holding up its member, wherever the
/// browser is, which an address would not tell: machines travel, and strangers share addresses. Nothing of it is stored
/// here.
struct KnownBrowser: Hashable, Sendable {
    /// How long a cookie is good for, in seconds.
    static let lifetime: Int64 = 365 * 86_400

    /// What no two browsers share.
    private let number: String
    /// When the cookie is no longer good, in seconds since 1970.
    private let expires: Int64

    /// A browser in which somebody has just signed in.
    init(now: Int64) {
        number = Secret.text(bytes: 16)
        expires = now + Self.lifetime
    }

    /// Reads a cookie; nil when it was not made here for this name, folded, or is too old.
    init?(cookie: String, name: String, key: SymmetricKey, now: Int64) {
        let parts = cookie.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count == 32, let expires = Int64(parts[1]), expires > now else {
            return nil
        }
        number = String(parts[0])
        self.expires = expires
        guard ConstantTime.equal(cookie, self.cookie(name: name, key: key)) else { return nil }
    }

    /// The cookie's value: the number and the time, signed together with the name.
    func cookie(name: String, key: SymmetricKey) -> String {
        let signed = Array("browser \(number) \(expires) \(name)".utf8)
        return "\(number).\(expires)."
            + Hexadecimal.encode(Array(HMAC<SHA256>.authenticationCode(for: signed, using: key)))
    }
}

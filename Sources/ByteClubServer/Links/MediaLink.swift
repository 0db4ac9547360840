import ByteClubCore
import Crypto

/// A link to the bytes of one version of a file, which is not stored anywhere: its text says all and is signed.
struct MediaLink: Hashable, Sendable {
    /// The number of the version.
    let revision: Int64
    /// The member who made the link; it ends when the member is removed.
    let member: Int64
    /// The first moment at which it no longer works.
    let expires: APIDate

    /// The link's part of the URL.
    func sealed(with key: SymmetricKey) -> String {
        let body = [revision, member, expires.seconds].map { String($0, radix: 16) }.joined(separator: "-")
        return body + "-" + Self.signature(body, key)
    }

    /// Describes a link.
    init(revision: Int64, member: Int64, expires: APIDate) {
        self.revision = revision
        self.member = member
        self.expires = expires
    }

    /// Reads the link's part of the URL; nil when it is malformed or signed by somebody else.
    init?(sealed text: String, key: SymmetricKey) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, let revision = Int64(parts[0], radix: 16), let member = Int64(parts[1], radix: 16),
            let expires = Int64(parts[2], radix: 16),
            ConstantTime.equal(Self.signature(parts.dropLast().joined(separator: "-"), key), String(parts[3]))
        else { return nil }
        self.init(revision: revision, member: member, expires: APIDate(seconds: expires))
    }

    private static func signature(_ body: String, _ key: SymmetricKey) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array("media link \(body)".utf8), using: key)
        return Hexadecimal.encode(Array(code).prefix(16))
    }
}

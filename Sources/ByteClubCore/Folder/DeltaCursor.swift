public import Crypto

/// A place in a shared folder's journal, for one member and one prefix.
///
/// Clients hold it as an opaque text that is signed, so a cursor of another server or a made-up one is refused.
public struct DeltaCursor: Hashable, Sendable {
    /// Which server's journal it is; changes when a server's numbering starts over.
    public var epoch: String
    /// The member who asked.
    public var member: Int64
    /// The last change that was listed.
    public var revision: Int64
    /// Only changes at or below this key are listed.
    public var prefix: PathKey
    /// Whether media information was asked for.
    public var includesMediaInfo: Bool

    /// Creates a cursor.
    public init(
        epoch: String, member: Int64, revision: Int64 = 0, prefix: PathKey = .root, includesMediaInfo: Bool = false
    ) {
        self.epoch = epoch
        self.member = member
        self.revision = revision
        self.prefix = prefix
        self.includesMediaInfo = includesMediaInfo
    }

    /// The signed text that a client is given.
    public func sealed(with key: SymmetricKey) -> String {
        let body =
            "\(epoch).\(member).\(revision).\(includesMediaInfo ? 1 : 0)."
            + Hexadecimal.encode(Array(prefix.string.utf8))
        return body + "." + Self.signature(body, key)
    }

    /// Reads a signed text; nil when it is malformed or has another signature.
    public init?(sealed text: String, key: SymmetricKey) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 6, let member = Int64(parts[1]), let revision = Int64(parts[2]), revision >= 0,
            let prefix = Hexadecimal.decode(String(parts[4])),
            ConstantTime.equal(Self.signature(parts.dropLast().joined(separator: "."), key), String(parts[5]))
        else { return nil }
        self.init(
            epoch: String(parts[0]), member: member, revision: revision,
            prefix: PathKey(folded: String(decoding: prefix, as: UTF8.self)), includesMediaInfo: parts[3] == "1")
    }

    /// The text signed with a secret of a server that keeps no ``SymmetricKey``.
    public func sealed(secret: [UInt8]) -> String { sealed(with: SymmetricKey(data: secret)) }

    /// Reads a text signed with a secret; nil when it is malformed or signed with another.
    public init?(sealed text: String, secret: [UInt8]) {
        self.init(sealed: text, key: SymmetricKey(data: secret))
    }

    private static func signature(_ body: String, _ key: SymmetricKey) -> String {
        Hexadecimal.encode(Array(HMAC<SHA256>.authenticationCode(for: Array(body.utf8), using: key)).prefix(16))
    }
}

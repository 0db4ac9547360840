public import Crypto

/// A place in a shared folder's journal.
///
/// Reading from one place to the journal's end is a pass of one or more pages; the cursor between two pages remembers
/// where the pass began. A client treats the text as opaque.
public struct JournalCursor: Hashable, Sendable, CustomStringConvertible {
    /// Which server's journal it is; changes when a server's numbering starts over.
    public var epoch: String
    /// The last position that was listed.
    public var position: Int64
    /// The position up to which everything was known when the pass began; nil when the pass lists the whole state.
    ///
    /// A client may know more, from the answers to its own writes: a pass from a position lists every deletion.
    public var known: Int64?
    /// The journal's last position when the pass began; nil between passes.
    public var end: Int64?

    /// Creates a cursor between passes.
    public init(epoch: String, position: Int64) {
        self.init(epoch: epoch, position: position, known: position, end: nil)
    }

    /// Creates a cursor of a running pass.
    public init(epoch: String, position: Int64, known: Int64?, end: Int64?) {
        self.epoch = epoch
        self.position = position
        self.known = known
        self.end = end
    }

    /// Reads the text; nil when it is anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let epoch = parts.first, !epoch.isEmpty, parts.count == 2 || parts.count == 4,
            let position = Self.number(parts[1])
        else { return nil }
        if parts.count == 2 {
            self.init(epoch: String(epoch), position: position)
            return
        }
        let known = parts[2] == Self.nothing ? nil : Self.number(parts[2])
        guard let end = Self.number(parts[3]), known != nil || parts[2] == Self.nothing else { return nil }
        self.init(epoch: String(epoch), position: position, known: known, end: end)
    }

    private static let nothing = "-"

    private static func number(_ text: Substring) -> Int64? {
        guard let number = Int64(text), number >= 0 else { return nil }
        return number
    }

    /// The text.
    public var description: String {
        "\(epoch).\(position)" + (end.map { end in ".\(known.map(String.init) ?? Self.nothing).\(end)" } ?? "")
    }
}

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

    private static func signature(_ body: String, _ key: SymmetricKey) -> String {
        Hexadecimal.encode(Array(HMAC<SHA256>.authenticationCode(for: Array(body.utf8), using: key)).prefix(16))
    }
}

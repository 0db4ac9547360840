import ByteClubCore

/// A link from a member to an entry, which works for everyone with its secret until it expires.
///
/// It follows the entry when that is renamed or moved, and does not work while the entry is deleted: a new file at the
/// old path is another entry. It ends with its maker's membership, and a shared one with the maker's right to share.
struct Link: Hashable, Sendable {
    /// The use of a link.
    enum Purpose: Int, Sendable {
        /// Looking at a file or a folder without an account.
        case share
        /// Copying an entry by another member.
        case copy
        /// The bytes of one version of a file, without an account.
        case media

        /// The default lifetime of a link in seconds.
        var lifetime: Int64 {
            switch self {
            case .share: 7 * 86_400
            // The protocol's four hours.
            case .media: 4 * 3600
            // Thirty years, as the first server did.
            case .copy: 30 * 365 * 86_400
            }
        }
    }

    /// The lifetimes of a shared link in seconds: a minute to a leap year.
    static let lifetimes: ClosedRange<Int64> = 60...366 * 86_400

    /// The most links of one kind that a member may have at a time.
    static let mostOfMember = 5000

    /// For how many seconds after it was made the same link to a file's bytes is given to its maker again.
    static let mediaReuse: Int64 = 3600

    /// The link's number, which is no secret; never used again.
    let id: Int64
    /// The identifier in the link's URL: 32 hexadecimal digits.
    let secret: String
    /// The use of the link.
    let purpose: Purpose
    /// Where its entry is now.
    let path: RemotePath
    /// When it was made.
    let created: APIDate
    /// The first moment at which it no longer works.
    let expires: APIDate
    /// The name of its maker.
    let member: String
    /// The password of a shared link; nil for none.
    let password: PasswordHash?
    /// Whether photos keep the metadata of places and cameras.
    let keepsLocation: Bool

    /// The terms that its maker sets; nil leaves a term unchanged, or at the purpose's default for a new link.
    struct Terms: Sendable {
        /// In how many seconds from now it is to end.
        var lifetime: Int64?
        /// The password; ``Password/none`` to remove it.
        var password: Password?
        /// Whether photos keep the metadata of places and cameras; by default they do not.
        var keepsLocation: Bool?

        /// A password to set or to remove.
        enum Password: Sendable {
            case none
            case hash(PasswordHash)

            /// The hash; nil for none.
            var hash: PasswordHash? {
                if case .hash(let hash) = self { hash } else { nil }
            }
        }

        /// Whether there is nothing in which a known link could change.
        var isEmpty: Bool { lifetime == nil && password == nil && keepsLocation == nil }
    }

    /// The components of its URL after the server's address.
    var components: [String] { (purpose == .media ? ["1", "view"] : ["s"]) + [secret, path.name] }

    /// The refusal of one link more than a member may have, of which the first ends at a moment.
    static func tooMany(until end: Int64?, now: Int64) -> StorageError {
        StorageError(
            .tooMany(retryAfter: Int(clamping: max(1, (end ?? now) - now))),
            "a member has at most \(mostOfMember) such links at a time; revoke some")
    }
}

/// The links of members; changes are durable when a call returns.
protocol LinkStore: Sendable {
    /// A member's link to a live entry: the existing one, with its end unchanged, or else a new one.
    ///
    /// The terms apply to an existing link as well.
    ///
    /// - Throws: ``StorageError`` `tooMany` when the member has ``Link/mostOfMember`` already, `notFound` when the
    ///   entry is gone.
    func link(
        _ purpose: Link.Purpose, to entry: FolderEntry, by member: Int64, _ terms: Link.Terms
    ) async throws -> Link

    /// The link with a secret; nil when there is none, or its entry is deleted.
    func link(_ purpose: Link.Purpose, secret: String) async throws -> Link?

    /// The entry that a link leads to, or the one at a path below it; nil when there is no such link or no such entry.
    func entry(_ purpose: Link.Purpose, secret: String, below: String) async throws -> FolderEntry?

    /// The links without an account that a member may see, the newest first: the member's own, and for owners all.
    ///
    /// With a purpose only those of that kind, else all but copy references, which need an account; with numbers below
    /// `before`, and at most `limit`.
    func links(seenBy member: Member, _ purpose: Link.Purpose?, before: Int64, limit: Int) async throws -> [Link]

    /// Revokes a link; false when the member can see no such link.
    func removeLink(_ id: Int64, for member: Member) async throws -> Bool
}

/// The answer of `/account/info` about the member whose token was sent.
public struct Account: Hashable, Sendable, Encodable {
    /// How much a member may store and does, in bytes.
    public struct Quota: Hashable, Sendable, Encodable {
        /// The total allowance.
        public var quota: Int64
        /// Bytes used outside shared folders.
        public var normal: Int64
        /// Bytes used in shared folders.
        public var shared: Int64
        /// Always 0; there are no datastores any more.
        public var datastores: Int64 = 0

        /// The allowance that stands for none, in bytes: 1 PiB.
        ///
        /// Clients of Core API v1 limit their uploads to the rest of the allowance, so it cannot be left out.
        public static let unlimited: Int64 = 1 << 50

        /// All bytes used.
        public var used: Int64 { normal.adding(shared) }

        /// Creates a quota.
        public init(quota: Int64, normal: Int64, shared: Int64) {
            self.quota = quota
            self.normal = normal
            self.shared = shared
        }
    }

    /// The parts of the member's name.
    public struct NameDetails: Hashable, Sendable, Encodable {
        private enum CodingKeys: String, CodingKey {
            case familiarName = "familiar_name", givenName = "given_name", surname
        }
        /// The family name.
        public var familiarName: String
        /// The given name.
        public var givenName: String
        /// The family name, under its older label.
        public var surname: String

        /// Splits a name at its last blank.
        public init(displayName: String) {
            let parts = displayName.split(separator: " ")
            familiarName = String(parts.last ?? "")
            surname = familiarName
            givenName = parts.count > 1 ? parts.dropLast().joined(separator: " ") : familiarName
        }
    }

    /// The powers beyond Core API v1 that this server has, and the club's name, under the key `byteclub`.
    public struct Extensions: Hashable, Sendable, Encodable {
        private enum CodingKeys: String, CodingKey {
            case version, conditionalDelete = "conditional_delete", sync, links, history
            case contentSearch = "content_search", photoSearch = "photo_search", bulkChunks = "bulk_chunks"
            case club
        }
        /// The version of the extensions, from 1.
        public var version: Int
        /// Whether `fileops/delete` supports `parent_rev` and answers 409 when the entry has changed since.
        public var conditionalDelete: Bool
        /// Whether the operations under `/1/sync` are there.
        public var sync: Bool
        /// Whether links can be listed and revoked under `/1/sync/links`, and `shares` supports `expires_in`.
        public var links: Bool
        /// Whether `/1/sync/history` lists members' actions.
        public var history: Bool
        /// Whether `search` supports `content`, which searches texts as well.
        public var contentSearch: Bool
        /// Whether `search` supports `kind`, `taken_after`, `taken_before` and `near`, which search photos.
        public var photoSearch: Bool
        /// Whether `POST /1/sync/chunks` accepts many chunks at once, of up to ``ChunkManifest/maximumChunkBytes``
        /// each, a batch accepts an upload as a content, and `POST /1/sync/chunks/need` searches a version for chunks.
        public var bulkChunks: Bool
        /// The club's name; nil when it has none, or the server does not tell.
        public var club: String?

        /// Creates a description of a server's powers.
        public init(
            version: Int, conditionalDelete: Bool, sync: Bool = false, links: Bool = false, history: Bool = false,
            contentSearch: Bool = false, photoSearch: Bool = false, bulkChunks: Bool = false,
            club: String? = nil
        ) {
            self.version = version
            self.conditionalDelete = conditionalDelete
            self.sync = sync
            self.links = links
            self.history = history
            self.contentSearch = contentSearch
            self.photoSearch = photoSearch
            self.bulkChunks = bulkChunks
            self.club = club
        }
    }

    private enum CodingKeys: String, CodingKey {
        case uid, displayName = "display_name", email, isEmailVerified = "email_verified", country, locale
        case isPaired = "is_paired", team, referralLink = "referral_link", nameDetails = "name_details"
        case quotaInfo = "quota_info", role, extensions = "byteclub"
    }

    /// The member's number.
    public var uid: Int64
    /// The member's name.
    public var displayName: String
    /// The member's mail address.
    public var email: String?
    /// Whether the address was checked.
    public var isEmailVerified: Bool?
    /// Two letters.
    public var country: String?
    /// An IETF language tag.
    public var locale: String?
    /// Whether another account is linked.
    public var isPaired: Bool?
    /// Always nil; there are no teams.
    public var team: String?
    /// A link that v1 clients show.
    public var referralLink: String?
    /// The parts of the name.
    public var nameDetails: NameDetails?
    /// Allowance and use.
    public var quotaInfo: Quota
    /// The member's role in the club (extension): `viewer`, `editor` or `owner`; nil when the server does not tell.
    public var role: String?
    /// The server's powers beyond v1; nil when it has none.
    public var extensions: Extensions?

    /// The role that may read and change nothing.
    public static let viewer = "viewer"
    /// What a refusal names as its parameter when the member's role is too low.
    public static let roleParameter = "role"

    /// Describes a member.
    public init(uid: Int64, displayName: String, quotaInfo: Quota, extensions: Extensions? = nil) {
        self.uid = uid
        self.displayName = displayName
        self.quotaInfo = quotaInfo
        self.extensions = extensions
        email = ""
        isEmailVerified = false
        country = ""
        locale = "en"
        isPaired = false
        referralLink = ""
        nameDetails = NameDetails(displayName: displayName)
    }

    /// Encodes the wire's object; `team` is null.
    public func encode(to encoder: any Encoder) throws {
        var box = encoder.container(keyedBy: CodingKeys.self)
        try box.encode(uid, forKey: .uid)
        try box.encode(displayName, forKey: .displayName)
        try box.encodeIfPresent(email, forKey: .email)
        try box.encodeIfPresent(isEmailVerified, forKey: .isEmailVerified)
        try box.encodeIfPresent(country, forKey: .country)
        try box.encodeIfPresent(locale, forKey: .locale)
        try box.encodeIfPresent(isPaired, forKey: .isPaired)
        try box.encode(team, forKey: .team)
        try box.encodeIfPresent(referralLink, forKey: .referralLink)
        try box.encodeIfPresent(nameDetails, forKey: .nameDetails)
        try box.encode(quotaInfo, forKey: .quotaInfo)
        try box.encodeIfPresent(role, forKey: .role)
        try box.encodeIfPresent(extensions, forKey: .extensions)
    }
}

extension Account: JSONReadable {
    /// Reads the wire's object; only `uid`, `display_name` and `quota_info` must be there.
    public init(json: inout JSONReader) throws(JSONError) {
        var uid: Int64?
        var displayName: String?
        var quotaInfo: Quota?
        self.init()
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "uid": uid = try json.value()
            case "display_name": displayName = try json.memberName()
            case "email": email = try json.optional()
            case "email_verified": isEmailVerified = try json.optional()
            case "country": country = try json.optional()
            case "locale": locale = try json.optional()
            case "is_paired": isPaired = try json.optional()
            case "referral_link": referralLink = try json.optional()
            case "name_details": nameDetails = try json.optional()
            case "quota_info": quotaInfo = try json.value()
            case "role": role = try json.optional()
            case "byteclub": extensions = try json.optional()
            // `team` is skipped too: Dropbox's object has no use here.
            default: try json.skip()
            }
        }
        (self.uid, self.displayName) = try (uid.required("uid"), displayName.required("display_name"))
        self.quotaInfo = try quotaInfo.required("quota_info")
        if let role, role.utf8.count > 64 {
            throw JSONError(.invalid("a role that is longer than 64 bytes"))
        }
    }

    /// Starts with every optional field absent.
    private init() {
        (uid, displayName, quotaInfo) = (0, "", Quota(quota: 0, normal: 0, shared: 0))
    }
}

extension Account.Quota: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var (quota, normal, shared): (Int64?, Int64?, Int64?)
        var datastores: Int64 = 0
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "quota": quota = try json.value()
            case "normal": normal = try json.value()
            case "shared": shared = try json.value()
            case "datastores": datastores = try json.optional() ?? 0
            default: try json.skip()
            }
        }
        try self.init(
            quota: quota.required("quota"), normal: normal.required("normal"), shared: shared.required("shared"))
        self.datastores = datastores
    }
}

extension Account.NameDetails: JSONReadable {
    /// Reads the wire's object; an absent part is empty.
    public init(json: inout JSONReader) throws(JSONError) {
        self.init(displayName: "")
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "familiar_name": familiarName = try json.value()
            case "given_name": givenName = try json.value()
            case "surname": surname = try json.value()
            default: try json.skip()
            }
        }
    }
}

extension Account.Extensions: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var version: Int64?
        self.init(version: 0, conditionalDelete: false)
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "version": version = try json.value()
            case "conditional_delete": conditionalDelete = try json.optional() ?? false
            case "sync": sync = try json.optional() ?? false
            case "links": links = try json.optional() ?? false
            case "history": history = try json.optional() ?? false
            case "content_search": contentSearch = try json.optional() ?? false
            case "photo_search": photoSearch = try json.optional() ?? false
            case "bulk_chunks": bulkChunks = try json.optional() ?? false
            case "club": club = try json.optional()
            default: try json.skip()
            }
        }
        self.version = Int(clamping: try version.required("version"))
        if let club, club.utf8.count > Modifier.longestName {
            throw JSONError(.invalid("a club's name that is longer than \(Modifier.longestName) bytes"))
        }
    }
}

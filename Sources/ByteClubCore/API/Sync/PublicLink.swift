/// A link that lets in people without an account, from `GET /1/sync/links`.
public struct PublicLink: Hashable, Sendable {
    /// What a link gives.
    public enum Kind: String, Sendable {
        /// A page about a file or a folder, and the bytes behind it.
        case share
        /// The bytes of one version of a file, for some hours.
        case media
    }

    /// The link's number, which identifies it for revocation; no secret.
    public var id: Int64
    /// What the link gives.
    public var kind: Kind
    /// Where the entry is to which it leads.
    public var path: RemotePath
    /// The link itself.
    public var url: String
    /// When it was made.
    public var created: APIDate
    /// The first moment at which it no longer works.
    public var expires: APIDate
    /// The name of the member who made it.
    public var member: String

    /// Describes a link.
    public init(
        id: Int64, kind: Kind, path: RemotePath, url: String, created: APIDate, expires: APIDate, member: String
    ) {
        self.id = id
        self.kind = kind
        self.path = path
        self.url = url
        self.created = created
        self.expires = expires
        self.member = member
    }
}

/// A page of links, the newest first.
public struct PublicLinkPage: Hashable, Sendable {
    /// The links.
    public var links: [PublicLink]
    /// Whether there are older ones, to be asked for with `before`.
    public var hasMore: Bool

    /// Creates a page.
    public init(links: [PublicLink], hasMore: Bool) {
        self.links = links
        self.hasMore = hasMore
    }
}

/// What `POST /1/shares` answers.
public struct SharedLink: Hashable, Sendable {
    /// The link.
    public var url: String
    /// The first moment at which it no longer works.
    public var expires: APIDate
    /// Whether one must know a password to follow it; false where a server does not say.
    public var hasPassword: Bool
    /// Whether photos are given with what they tell of places and cameras; nil where a server does not say.
    public var keepsLocation: Bool?

    /// Describes a link.
    public init(url: String, expires: APIDate, hasPassword: Bool = false, keepsLocation: Bool? = nil) {
        self.url = url
        self.expires = expires
        self.hasPassword = hasPassword
        self.keepsLocation = keepsLocation
    }
}

extension PublicLink: JSONReadable {
    /// Reads the wire's object; all of its members must be there.
    public init(json: inout JSONReader) throws(JSONError) {
        var id: Int64?
        var kind: Kind?
        var path: RemotePath?
        var (url, member): (String?, String?)
        var (created, expires): (APIDate?, APIDate?)
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "id": id = try json.value()
            case "kind":
                let word = try json.string()
                kind = Kind(rawValue: word)
                if kind == nil { throw JSONError(.invalid("neither 'share' nor 'media'")) }
            case "path": path = try json.value()
            case "url": url = try json.value()
            case "created": created = try json.value()
            case "expires": expires = try json.value()
            case "member": member = try json.value()
            default: try json.skip()
            }
        }
        try self.init(
            id: id.required("id"), kind: kind.required("kind"), path: path.required("path"), url: url.required("url"),
            created: created.required("created"), expires: expires.required("expires"),
            member: member.required("member"))
    }
}

extension PublicLinkPage: JSONReadable {
    /// Reads the wire's object; an absent `has_more` means that this is all.
    public init(json: inout JSONReader) throws(JSONError) {
        var links: [PublicLink]?
        var hasMore = false
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "links": links = try json.value()
            case "has_more": hasMore = try json.optional() ?? false
            default: try json.skip()
            }
        }
        self.init(links: try links.required("links"), hasMore: hasMore)
    }
}

extension SharedLink: JSONReadable {
    /// Reads the wire's object; `visibility` is of no use here.
    public init(json: inout JSONReader) throws(JSONError) {
        var url: String?
        var expires: APIDate?
        var hasPassword = false
        var keepsLocation: Bool?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "url": url = try json.value()
            case "expires": expires = try json.value()
            case "has_password": hasPassword = try json.optional() ?? false
            case "location": keepsLocation = try json.string() == "keep"
            default: try json.skip()
            }
        }
        try self.init(
            url: url.required("url"), expires: expires.required("expires"), hasPassword: hasPassword,
            keepsLocation: keepsLocation)
    }
}

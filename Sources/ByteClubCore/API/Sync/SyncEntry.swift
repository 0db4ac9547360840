/// An entry as the extension describes it.
public struct SyncEntry: Hashable, Sendable {
    /// Which entry it is.
    public var node: NodeID
    /// The folder that holds it, or held it.
    public var parent: NodeID
    /// Its name there.
    public var name: String
    /// Whether it is a folder.
    public var isFolder: Bool
    /// Whether it is deleted.
    public var isDeleted: Bool
    /// The content's revision: changes with the content, and with deleting and undeleting.
    public var revision: Int64
    /// The place's revision: changes with the name and the folder.
    public var placeRevision: Int64
    /// Its position in the journal; also the number in the `rev` of Core API v1.
    public var sequence: Int64
    /// The content's length in bytes; 0 for folders and deleted entries.
    public var bytes: Int64
    /// The content's hash; nil for folders and deleted entries.
    public var hash: ContentHash?
    /// When the server made this version, in seconds since 1970.
    public var modified: Int64
    /// When the content was made, by the uploader's word; nil when unknown.
    public var clientModified: FileTime?
    /// Whether the file may be executed, by the uploader's word; nil when unknown.
    public var isExecutable: Bool?
    /// The number of the member who made this version.
    public var author: Int64
    /// What that member is called; nil where the server does not tell.
    public var authorName: String?
    /// Whether the content's bytes follow the page's head.
    public var isInline: Bool

    /// Describes a version that a member of this name made.
    public init(_ entry: FolderEntry, by authorName: String? = nil, isInline: Bool = false) {
        node = entry.node
        parent = entry.parent
        name = entry.path.name
        isFolder = entry.isFolder
        isDeleted = entry.isDeleted
        revision = entry.contentRevision
        placeRevision = entry.placeRevision
        sequence = entry.revision
        bytes = entry.bytes
        hash = entry.contentHash
        modified = entry.modified.seconds
        clientModified = entry.clientModified
        isExecutable = entry.isExecutable
        author = entry.author
        self.authorName = authorName
        self.isInline = isInline
    }
}

extension SyncEntry: JSONReadable {
    /// Reads the wire's object; only `id`, `parent` and `name` must be there.
    public init(json: inout JSONReader) throws(JSONError) {
        var (node, parent): (NodeID?, NodeID?)
        self.init(.root)
        isFolder = false
        var name: String?
        var (seconds, nanoseconds): (Int64?, Int64?)
        try json.object { (json, key) throws(JSONError) in
            switch key {
            case "id": node = try json.value()
            case "parent": parent = try json.value()
            case "name": name = try json.value()
            case "folder": isFolder = try json.value()
            case "deleted": isDeleted = try json.value()
            case "rev": revision = try json.value()
            case "place_rev": placeRevision = try json.value()
            case "seq": sequence = try json.value()
            case "bytes": bytes = try json.value()
            case "hash": hash = try json.value()
            case "modified": modified = try json.value()
            case "mtime": seconds = try json.value()
            case "mtime_nanos": nanoseconds = try json.value()
            case "executable": isExecutable = try json.optional()
            case "by": author = try json.value()
            case "by_name": authorName = try json.memberName()
            case "inline": isInline = try json.value()
            default: try json.skip()
            }
        }
        (self.node, self.parent) = try (node.required("id"), parent.required("parent"))
        self.name = try name.required("name")
        if bytes < 0 { throw JSONError(.invalid("of a negative length")) }
        if min(revision, placeRevision, sequence) < 0 {
            throw JSONError(.invalid("of a negative revision"))
        }
        // A name that is a path would lead out of the mirror.
        if self.node != .root, (try? NameRules.check(self.name)) == nil {
            throw JSONError(.invalid("of an impossible name"))
        }
        clientModified = try FileTime(wire: seconds, nanoseconds)
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("id", node.number)
            json.member("parent", parent.number)
            json.member("name", name)
            json.member("folder", isFolder)
            if isDeleted { json.member("deleted", true) }
            json.member("rev", revision)
            json.member("place_rev", placeRevision)
            json.member("seq", sequence)
            if let hash {
                json.member("bytes", bytes)
                json.member("hash", hash)
            }
            json.member("modified", modified)
            clientModified?.writeMembers(to: &json)
            json.member("executable", isExecutable)
            json.member("by", author)
            json.member("by_name", authorName)
            if isInline { json.member("inline", true) }
        }
    }
}

/// Some changes of the journal, in its order.
public struct SyncPage: Hashable, Sendable {
    /// Whether a refresh starts here: an entry that is not listed until ``hasMore`` is false does not exist.
    public var isReset: Bool
    /// Where the next page starts.
    public var cursor: String
    /// The journal's position up to which everything has been listed; nil while there is more.
    public var sequence: Int64?
    /// Whether the next page can be had at once.
    public var hasMore: Bool
    /// The entries as they are now; a folder before what it holds, and a deleted folder for all that it held.
    public var entries: [SyncEntry]

    /// The upper limit of entries in a page.
    public static let mostEntries = 10_000

    /// Creates a page.
    public init(isReset: Bool, cursor: String, sequence: Int64?, hasMore: Bool, entries: [SyncEntry]) {
        self.isReset = isReset
        self.cursor = cursor
        self.sequence = sequence
        self.hasMore = hasMore
        self.entries = entries
    }
}

extension SyncPage: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var (isReset, hasMore): (Bool?, Bool?)
        var cursor: String?
        var sequence: Int64?
        var entries: [SyncEntry]?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "reset": isReset = try json.value()
            case "cursor": cursor = try json.cursor()
            case "seq": sequence = try json.optional()
            case "has_more": hasMore = try json.value()
            case "entries": entries = try json.values(atMost: Self.mostEntries)
            default: try json.skip()
            }
        }
        try self.init(
            isReset: isReset.required("reset"), cursor: cursor.required("cursor"), sequence: sequence,
            hasMore: hasMore.required("has_more"), entries: entries.required("entries"))
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("reset", isReset)
            json.member("cursor", cursor)
            json.member("seq", sequence)
            json.member("has_more", hasMore)
            json.member("entries", entries) { $0.write(to: &$1) }
        }
    }
}

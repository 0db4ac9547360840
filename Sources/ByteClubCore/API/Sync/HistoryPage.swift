/// One action of a member on an entry, from `GET /1/sync/history`.
public struct HistoryChange: Hashable, Sendable {
    /// The kind of action.
    public enum Action: String, Sendable {
        /// A new entry.
        case added
        /// New content.
        case edited
        /// Another name or folder.
        case moved
        /// Deleted, a folder with everything in it.
        case removed
        /// Restored with its identity after a deletion.
        case restored
    }

    /// The number of the change, which rises.
    public var sequence: Int64
    /// The kind of action.
    public var action: Action
    /// Where the entry was then.
    public var path: RemotePath
    /// Where it was before it was moved; nil for anything else, and where that is not kept any more.
    public var origin: RemotePath?
    /// Whether it is a folder.
    public var isFolder: Bool
    /// When the server did it, in seconds since 1970.
    public var modified: Int64
    /// The number of the member who did it.
    public var author: Int64
    /// What that member is called; nil where the server does not tell.
    public var authorName: String?

    /// Describes what a version did.
    public init(_ entry: FolderEntry, _ action: Action, from origin: RemotePath? = nil, by authorName: String?) {
        sequence = entry.revision
        self.action = action
        path = entry.path
        self.origin = origin
        isFolder = entry.isFolder
        modified = entry.modified.seconds
        author = entry.author
        self.authorName = authorName
    }
}

/// What members did, the newest first.
public struct HistoryPage: Hashable, Sendable {
    /// The most changes of one page.
    public static let mostChanges = 1_000

    /// The number of the folder's last change.
    public var sequence: Int64
    /// Older changes are those before this number; nil when there are none.
    public var before: Int64?
    /// The changes.
    public var changes: [HistoryChange]

    /// Creates a page.
    public init(sequence: Int64, before: Int64?, changes: [HistoryChange]) {
        self.sequence = sequence
        self.before = before
        self.changes = changes
    }
}

extension HistoryChange: JSONReadable {
    /// Reads the wire's object; only `from` and `by_name` may be missing.
    public init(json: inout JSONReader) throws(JSONError) {
        var (sequence, modified, author): (Int64?, Int64?, Int64?)
        var action: Action?
        var path: RemotePath?
        var isFolder: Bool?
        self.init(.root, .added, by: nil)
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "seq": sequence = try json.value()
            case "what":
                action = Action(rawValue: try json.string())
                if action == nil { throw JSONError(.invalid("no known change")) }
            case "path": path = try json.value()
            case "from": origin = try json.optional()
            case "folder": isFolder = try json.value()
            case "modified": modified = try json.value()
            case "by": author = try json.value()
            case "by_name": authorName = try json.memberName()
            default: try json.skip()
            }
        }
        (self.sequence, self.action) = try (sequence.required("seq"), action.required("what"))
        (self.path, self.isFolder) = try (path.required("path"), isFolder.required("folder"))
        (self.modified, self.author) = try (modified.required("modified"), author.required("by"))
    }

    fileprivate func write(to json: inout JSONText) {
        json.object { json in
            json.member("seq", sequence)
            json.member("what", action.rawValue)
            json.member("path", path.string)
            json.member("from", origin?.string)
            json.member("folder", isFolder)
            json.member("modified", modified)
            json.member("by", author)
            json.member("by_name", authorName)
        }
    }
}

extension HistoryPage: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var (sequence, before): (Int64?, Int64?)
        var changes: [HistoryChange]?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "seq": sequence = try json.value()
            case "before": before = try json.optional()
            case "changes": changes = try json.values(atMost: Self.mostChanges)
            default: try json.skip()
            }
        }
        try self.init(sequence: sequence.required("seq"), before: before, changes: changes.required("changes"))
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("seq", sequence)
            json.member("before", before)
            json.member("changes", changes) { $0.write(to: &$1) }
        }
    }
}

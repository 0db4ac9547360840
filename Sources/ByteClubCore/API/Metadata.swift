/// An entry as Core API v1 describes it, in the answers of nearly all operations.
///
/// Absent fields are nil and are not written. `content_hash` is an extension: Dropbox's content hash of the bytes.
public struct Metadata: Hashable, Sendable {
    /// The most entries that one listing has.
    public static let mostContents = 25_000

    /// The entry's path, `/` for the root.
    public var path: RemotePath
    /// Whether the entry is a folder.
    public var isFolder: Bool
    /// The content's length in bytes; 0 for folders and deleted entries.
    public var bytes: Int64
    /// The length as people read it.
    public var size: String
    /// The entry's version; nil for the root.
    public var rev: Revision?
    /// When the server made this version; nil for the root.
    public var modified: APIDate?
    /// When the content was made, by the uploader's word, else when the server stored it; nil for folders.
    public var clientModified: APIDate?
    /// The nanoseconds that ``clientModified`` leaves out (extension), 0 to 999,999,999; nil when there are none.
    public var clientNanoseconds: Int64?
    /// Whether the file may be executed, by the uploader's word (extension); nil when unknown, and for folders.
    public var isExecutable: Bool?
    /// The MIME type by the file's extension; nil for folders.
    public var mimeType: String?
    /// The name in the icon library.
    public var icon: String
    /// `dropbox` or `app_folder`.
    public var root: String
    /// Whether a thumbnail may be had.
    public var hasThumbnail: Bool
    /// Whether the entry is deleted.
    public var isDeleted: Bool
    /// The hash of a folder's listing, to be sent back with the next listing; nil unless the folder was listed.
    public var hash: String?
    /// A listed folder's direct children; nil unless the folder was listed.
    public var contents: [Metadata]?
    /// The hash of the content (extension); nil for folders, deleted entries and servers that do not tell.
    public var contentHash: ContentHash?
    /// When and where a photo was taken; nil unless requested, and for files that are no pictures.
    public var photoInfo: MediaInfo?
    /// The same of a film.
    public var videoInfo: MediaInfo?
    /// Who made this version; nil for the root and where the server does not tell.
    public var modifier: Modifier?
    /// The piece of the text that a search found (extension); nil unless texts were searched and this one matches.
    public var snippet: TextSnippet?

    /// Describes an entry of a shared folder; fields that follow from others are filled in.
    public init(_ entry: FolderEntry, by modifier: Modifier? = nil, namespace: UInt32 = 1) {
        let type = MediaType(name: entry.path.name)
        path = entry.path
        isFolder = entry.isFolder
        isDeleted = entry.isDeleted
        bytes = entry.isDeleted || entry.isFolder ? 0 : entry.bytes
        size = HumanSize.text(bytes)
        let isRoot = entry.path.isRoot
        rev = isRoot ? nil : JournalRevision(number: entry.revision, namespace: namespace).revision
        modified = isRoot ? nil : entry.modified
        clientModified = entry.isFolder ? nil : entry.clientModified?.date ?? entry.modified
        clientNanoseconds = entry.clientModified.flatMap { $0.fraction == 0 ? nil : $0.fraction }
        isExecutable = entry.isExecutable
        mimeType = entry.isFolder ? nil : type.mime
        icon = entry.isFolder ? "folder" : type.icon
        root = "dropbox"
        hasThumbnail = !entry.isFolder && !entry.isDeleted && type.hasThumbnail
        contentHash = entry.isFolder || entry.isDeleted ? nil : entry.contentHash
        self.modifier = modifier
    }

    /// When a file was last changed where it came from; nil for folders, and for a time that no file has.
    public var fileTime: FileTime? {
        clientModified.flatMap { FileTime(seconds: $0.seconds, nanoseconds: clientNanoseconds ?? 0) }
    }
}

extension Metadata: JSONReadable {
    /// Reads the wire's object; unknown fields are ignored and only `path` and `is_dir` must be there.
    public init(json: inout JSONReader) throws(JSONError) {
        var path: RemotePath?
        var isFolder: Bool?
        var (size, icon): (String?, String?)
        self.init()
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "path": path = try json.value()
            case "is_dir": isFolder = try json.value()
            case "bytes": bytes = try json.optional() ?? 0
            case "size": size = try json.optional()
            case "rev": rev = try json.optional()
            case "modified": modified = try json.optional()
            case "client_mtime": clientModified = try json.optional()
            case "client_mtime_nanos": clientNanoseconds = try json.optional()
            case "executable": isExecutable = try json.optional()
            case "mime_type": mimeType = try json.optional()
            case "icon": icon = try json.optional()
            case "root": root = try json.optional() ?? "dropbox"
            case "thumb_exists": hasThumbnail = try json.optional() ?? false
            case "is_deleted": isDeleted = try json.optional() ?? false
            case "hash": hash = try json.optional()
            case "contents": contents = try json.optional(MetadataList.self)?.entries
            case "content_hash": contentHash = try json.optional()
            case "photo_info": photoInfo = try json.optional()
            case "video_info": videoInfo = try json.optional()
            case "modifier": modifier = try json.optional()
            case "snippet": snippet = try json.optional()
            default: try json.skip()
            }
        }
        (self.path, self.isFolder) = try (path.required("path"), isFolder.required("is_dir"))
        if bytes < 0 { throw JSONError(.invalid("of a negative length")) }
        self.size = size ?? HumanSize.text(bytes)
        self.icon = icon ?? (self.isFolder ? "folder" : "page_white")
    }

    /// Starts with what an absent field means.
    private init() {
        (path, isFolder, bytes, size, icon, root) = (.root, false, 0, "", "", "dropbox")
        (hasThumbnail, isDeleted) = (false, false)
    }
}

/// What an operation that lists entries answers, or the part of an answer that does.
public struct MetadataList: JSONReadable {
    /// The entries, at most ``Metadata/mostContents``, none of which is itself listed.
    public var entries: [Metadata]

    /// Reads the wire's array.
    public init(json: inout JSONReader) throws(JSONError) {
        var entries: [Metadata] = []
        try json.array { (json) throws(JSONError) in
            guard entries.count < Metadata.mostContents else {
                throw JSONError(.invalid("longer than \(Metadata.mostContents) elements"))
            }
            let entry = try json.value(Metadata.self)
            if entry.contents != nil { throw JSONError(.invalid("a listing in a listing")) }
            entries.append(entry)
        }
        self.entries = entries
    }
}

/// The member who made a version.
public struct Modifier: Hashable, Sendable {
    /// The most bytes of a name that is read.
    static let longestName = 1_024

    /// The member's number.
    public var uid: Int64
    /// The member's name; removed members keep theirs.
    public var displayName: String

    /// Describes a member.
    public init(uid: Int64, displayName: String) {
        self.uid = uid
        self.displayName = displayName
    }
}

extension Modifier: JSONReadable {
    /// Reads the wire's object; `same_team` is of no use here.
    public init(json: inout JSONReader) throws(JSONError) {
        var uid: Int64?
        var displayName: String?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "uid": uid = try json.value()
            case "display_name": displayName = try json.memberName()
            default: try json.skip()
            }
        }
        try self.init(uid: uid.required("uid"), displayName: displayName.required("display_name"))
    }
}

extension JSONReader {
    /// Reads a member's name, which is kept and shown.
    mutating func memberName() throws(JSONError) -> String {
        let name = try string()
        if name.utf8.count > Modifier.longestName {
            throw JSONError(.invalid("a name that is longer than \(Modifier.longestName) bytes"))
        }
        return name
    }
}

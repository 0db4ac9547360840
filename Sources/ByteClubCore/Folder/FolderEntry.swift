/// One version of one entry of a shared folder, as a store keeps it.
public struct FolderEntry: Hashable, Sendable {
    /// The path in the case in which it was stored.
    public var path: RemotePath
    /// Whether it is a folder.
    public var isFolder: Bool
    /// Whether this version is a deletion.
    public var isDeleted: Bool
    /// The number of the change that made this version.
    public var revision: Int64
    /// The content's length in bytes; 0 for folders and deleted entries.
    public var bytes: Int64
    /// The content's hash; nil for folders and deleted entries.
    public var contentHash: ContentHash?
    /// When the change was made.
    public var modified: APIDate
    /// The content's time by its uploader; nil when it is unknown, and for folders and deleted entries.
    public var clientModified: FileTime?
    /// Whether the file is executable by its uploader; nil when that is unknown, and for folders and deleted entries.
    public var isExecutable: Bool?
    /// The number of the member who made the change.
    public var author: Int64
    /// Which entry this is a version of; the root's until the version is recorded, for an entry that is new.
    public var node: NodeID
    /// The folder that holds the entry.
    public var parent: NodeID
    /// The number of the change that made the content, or took it away; 0 until recorded, for the change under way.
    public var contentRevision: Int64
    /// The number of the change that gave the entry its name and its folder; 0 until recorded, for the change under
    /// way.
    public var placeRevision: Int64

    /// Creates a version.
    public init(
        path: RemotePath, isFolder: Bool, isDeleted: Bool = false, revision: Int64, bytes: Int64 = 0,
        contentHash: ContentHash? = nil, modified: APIDate, clientModified: FileTime? = nil,
        isExecutable: Bool? = nil, author: Int64, node: NodeID = .root, parent: NodeID = .root,
        contentRevision: Int64 = 0, placeRevision: Int64 = 0
    ) {
        self.path = path
        self.isFolder = isFolder
        self.isDeleted = isDeleted
        self.revision = revision
        self.bytes = bytes
        self.contentHash = contentHash
        self.modified = modified
        self.clientModified = clientModified
        self.isExecutable = isExecutable
        self.author = author
        self.node = node
        self.parent = parent
        self.contentRevision = contentRevision
        self.placeRevision = placeRevision
    }

    /// The number of the last change of the entry itself, rather than of a folder above it.
    public var change: Int64 { max(contentRevision, placeRevision) }

    /// The root, which every tree has and no store keeps.
    public static let root = FolderEntry(
        path: .root, isFolder: true, revision: 0, modified: APIDate(seconds: 0), author: 0)
}

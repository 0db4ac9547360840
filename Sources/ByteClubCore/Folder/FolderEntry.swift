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
    /// When the content was made, by the uploader's word; nil when unknown, and for folders and deleted entries.
    public var clientModified: FileTime?
    /// Whether the file may be executed, by the uploader's word; nil when unknown, and for folders and deleted entries.
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

/// One change of a folder that changes all that is below it too: a deletion or a move.
///
/// The deletions at the old place are first, unless its key stays, then the versions at the new one. Each time the
/// folder precedes its entries, which are in the order of their keys; and each version has the next number.
public struct SubtreeChange: Hashable, Sendable {
    /// The live folder as it was.
    public let source: FolderEntry
    /// The folder's new state, without a number yet; nil for a deletion.
    public let target: FolderEntry?
    /// When it is done.
    public let now: APIDate
    /// Who does it.
    public let author: Int64

    /// Whether tombstones are made: versions that say that an entry is deleted.
    public var leavesTombstones: Bool { target.map { $0.path.key != source.path.key } ?? true }

    /// The folder's own version that the change makes last; `count` entries are below it, and `last` is the last
    /// change.
    public func result(count: Int, after last: Int64) -> FolderEntry {
        guard let target else { return source.tombstone.stamped(last + 1, now, author) }
        return target.stamped(last + 1 + (leavesTombstones ? Int64(count) + 1 : 0), now, author)
    }

    /// All the versions that the change makes of the folder and of the live entries below it, after the change `last`.
    public func versions(below: [FolderEntry], after last: Int64) -> [FolderEntry] {
        var result = leavesTombstones ? [source.tombstone] + below.map(\.tombstone) : []
        if let target {
            result.append(target)
            for var child in below {
                guard let path = child.path.rebased(from: source.path, to: target.path) else { continue }
                child.path = path
                result.append(child)
            }
        }
        return result.enumerated().map { $1.stamped(last + 1 + Int64($0), now, author) }
    }
}

/// A summary of all live entries below a folder.
public struct SubtreeSummary: Hashable, Sendable {
    /// How many there are.
    public var count = 0
    /// The bytes of the longest path.
    public var longestPath = 0
    /// The highest number of a version.
    public var newest: Int64 = 0
    /// The highest number of a change of an entry itself, see ``FolderEntry/change``.
    public var newestChange: Int64 = 0

    /// Creates the summary of an empty folder.
    public init() {}
}

extension FolderEntry {
    /// The entry's tombstone, without a number yet.
    public var tombstone: FolderEntry {
        var gone = self
        (gone.isDeleted, gone.bytes, gone.contentHash, gone.contentRevision) = (true, 0, nil, 0)
        (gone.clientModified, gone.isExecutable) = (nil, nil)
        return gone
    }

    /// The version as a change with this number makes it.
    func stamped(_ number: Int64, _ now: APIDate, _ author: Int64) -> FolderEntry {
        var entry = self
        (entry.revision, entry.modified, entry.author) = (number, now, author)
        if entry.node == .root { entry.node = NodeID(number) }
        if entry.contentRevision == 0 { entry.contentRevision = number }
        if entry.placeRevision == 0 { entry.placeRevision = number }
        return entry
    }
}

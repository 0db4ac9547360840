/// What was observed at one place of one tree.
public struct Node: Hashable, Sendable {
    /// The path in the case in which it was seen.
    public var path: RemotePath
    /// Whether it is a folder.
    public var isFolder: Bool
    /// The content's hash; nil for folders.
    public var hash: ContentHash?
    /// The content's length in bytes; 0 for folders.
    public var size: Int64
    /// The server's version; nil on the local side.
    public var revision: Revision?

    /// Creates a node.
    public init(path: RemotePath, isFolder: Bool, hash: ContentHash? = nil, size: Int64 = 0, revision: Revision? = nil)
    {
        self.path = path
        self.isFolder = isFolder
        self.hash = hash
        self.size = size
        self.revision = revision
    }

    /// Whether two nodes are the same kind and hold the same bytes; versions and letter case do not count.
    public func hasSameContent(as other: Node) -> Bool {
        isFolder == other.isFolder && (isFolder || (hash != nil && hash == other.hash))
    }
}

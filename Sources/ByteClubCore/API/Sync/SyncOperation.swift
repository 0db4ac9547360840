/// One write of a batch: what to do, under which conditions, and the name that makes repeating it harmless.
public struct SyncOperation: Hashable, Sendable {
    /// The folder of a place: known to the server, or made by an earlier operation of the same batch.
    public enum Parent: Hashable, Sendable {
        /// A folder that has an identity.
        case node(NodeID)
        /// The entry that the operation with this index makes.
        case operation(Int)
    }

    /// A name in a folder.
    public struct Place: Hashable, Sendable {
        /// The folder.
        public var parent: Parent
        /// The name in it.
        public var name: String

        /// Creates a place.
        public init(_ parent: Parent, _ name: String) {
            self.parent = parent
            self.name = name
        }
    }

    /// A file's content: inline bytes of the batch, chunks that the server has, or a finished upload.
    public struct Content: Hashable, Sendable {
        /// The length in bytes.
        public var bytes: Int64
        /// The hash that the whole must have; nil when the sender has not computed it.
        public var hash: ContentHash?
        /// The hashes of the chunks that make it up, in order; nil when it is not made of chunks.
        public var chunks: [ContentHash]?
        /// The upload in pieces that has its bytes; nil when they come otherwise.
        ///
        /// It is the only one of its batch, which is done as a whole or not at all.
        public var upload: String?
        /// When the sender says that the content was made; nil when nothing is said.
        public var modified: FileTime?
        /// Whether the sender says that the file may be executed; nil when nothing is said.
        public var isExecutable: Bool?

        /// Describes content.
        public init(
            bytes: Int64, hash: ContentHash? = nil, chunks: [ContentHash]? = nil, upload: String? = nil,
            modified: FileTime? = nil, isExecutable: Bool? = nil
        ) {
            self.bytes = bytes
            self.hash = hash
            self.chunks = chunks
            self.upload = upload
            self.modified = modified
            self.isExecutable = isExecutable
        }
    }

    /// What to do.
    public enum Action: Hashable, Sendable {
        /// Make an entry where none is: a file, or a folder when there is no content.
        case create(Place, Content?)
        /// Give a live file new content.
        case edit(NodeID, Content)
        /// Undelete an entry: a file, or a folder when there is no content.
        case undelete(NodeID, Place, Content?)
        /// Give a live entry another name or folder.
        case move(NodeID, Place)
        /// Delete a live entry with all below it.
        case delete(NodeID)
    }

    /// What must hold of the entry; each part that is there must.
    public struct Condition: Hashable, Sendable {
        /// The content's revision is this one.
        public var revision: Int64?
        /// The place's revision is this one.
        public var placeRevision: Int64?
        /// Neither the entry nor anything below it has changed after this position of the journal.
        public var seen: Int64?

        /// Creates a condition.
        public init(revision: Int64? = nil, placeRevision: Int64? = nil, seen: Int64? = nil) {
            self.revision = revision
            self.placeRevision = placeRevision
            self.seen = seen
        }
    }

    /// The operation's name.
    public var id: OperationID
    /// What to do.
    public var action: Action
    /// What must hold.
    public var condition: Condition

    /// Creates an operation.
    public init(_ id: OperationID, _ action: Action, if condition: Condition = Condition()) {
        self.id = id
        self.action = action
        self.condition = condition
    }

    /// The entry that the operation is about; nil when it makes one.
    public var node: NodeID? {
        switch action {
        case .create: nil
        case .edit(let node, _), .undelete(let node, _, _), .move(let node, _), .delete(let node): node
        }
    }

    /// Where the operation puts the entry; nil when it leaves it where it is.
    public var place: Place? {
        switch action {
        case .create(let place, _), .undelete(_, let place, _), .move(_, let place): place
        case .edit, .delete: nil
        }
    }

    /// The content that the operation stores; nil when it stores none.
    public var content: Content? {
        get {
            switch action {
            case .create(_, let content), .undelete(_, _, let content): content
            case .edit(_, let content): content
            case .move, .delete: nil
            }
        }
        set {
            switch action {
            case .create(let place, _): action = .create(place, newValue)
            case .undelete(let node, let place, _): action = .undelete(node, place, newValue)
            case .edit(let node, let old): action = .edit(node, newValue ?? old)
            case .move, .delete: break
            }
        }
    }

    /// The bytes that follow the batch's head for this operation.
    public var inlineBytes: Int64 { content.map { $0.chunks == nil && $0.upload == nil ? $0.bytes : 0 } ?? 0 }
}

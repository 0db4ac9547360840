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
        /// When the content was made, by the sender's word; nil when unknown.
        public var modified: FileTime?
        /// Whether the file may be executed, by the sender's word; nil when unknown.
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

extension SyncOperation: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var (verb, name): (String?, String?)
        var id: OperationID?
        var (node, parent): (NodeID?, NodeID?)
        var (parentOperation, bytes): (Int64?, Int64?)
        var hash: ContentHash?
        var chunks: [ContentHash]?
        var upload: String?
        var (seconds, nanoseconds): (Int64?, Int64?)
        var isExecutable: Bool?
        var condition = Condition()
        try json.object { (json, key) throws(JSONError) in
            switch key {
            case "op": verb = try json.value()
            case "op_id": id = try json.value()
            case "id": node = try json.value()
            case "parent": parent = try json.value()
            case "parent_op": parentOperation = try json.value()
            case "name": name = try json.value()
            case "bytes": bytes = try json.value()
            case "hash": hash = try json.optional()
            case "chunks": chunks = try json.optional()
            case "upload": upload = try json.optional()
            case "mtime": seconds = try json.optional()
            case "mtime_nanos": nanoseconds = try json.optional()
            case "executable": isExecutable = try json.optional()
            case "rev": condition.revision = try json.optional()
            case "place_rev": condition.placeRevision = try json.optional()
            case "seen": condition.seen = try json.optional()
            default: try json.skip()
            }
        }
        (self.id, self.condition) = (try id.required("op_id"), condition)
        guard let verb else { throw JSONError(.missing("op")) }
        let place = try Self.place(parent, parentOperation, name)
        let modified = try FileTime(wire: seconds, nanoseconds)
        let content = bytes.map {
            Content(
                bytes: $0, hash: hash, chunks: chunks, upload: upload, modified: modified, isExecutable: isExecutable)
        }
        if chunks != nil, upload != nil { throw JSONError(.invalid("both of chunks and of an upload")) }
        if let bytes, bytes < 0 { throw JSONError(.invalid("of a negative length")) }
        switch (verb, node, place) {
        case ("put", let node, let place):
            guard let content else { throw JSONError(.missing("bytes")) }
            switch (node, place) {
            case (nil, let place?): action = .create(place, content)
            case (let node?, nil): action = .edit(node, content)
            case (let node?, let place?): action = .undelete(node, place, content)
            case (nil, nil): throw JSONError(.missing("parent"))
            }
        case ("folder", nil, let place?): action = .create(place, nil)
        case ("folder", let node?, let place?): action = .undelete(node, place, nil)
        case ("move", let node?, let place?): action = .move(node, place)
        case ("delete", let node?, nil): action = .delete(node)
        case ("folder", _, nil), ("move", _, nil): throw JSONError(.missing("parent"))
        case ("move", nil, _), ("delete", nil, _): throw JSONError(.missing("id"))
        case ("delete", _, _): throw JSONError(.invalid("a deletion with a place"))
        default: throw JSONError(.invalid("neither 'put', 'folder', 'move' nor 'delete'"))
        }
    }

    private static func place(
        _ parent: NodeID?, _ operation: Int64?, _ name: String?
    ) throws(JSONError) -> Place? {
        switch (parent, operation) {
        case (nil, nil):
            if name != nil { throw JSONError(.missing("parent")) }
            return nil
        case (_?, _?): throw JSONError(.invalid("in two folders at once"))
        case (let parent, let operation):
            guard let name else { throw JSONError(.missing("name")) }
            if let parent { return Place(.node(parent), name) }
            return Place(.operation(Int(clamping: operation ?? -1)), name)
        }
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("op", verb)
            json.member("op_id", id.text)
            json.member("id", node?.number)
            place?.writeMembers(to: &json)
            if let content {
                json.member("bytes", content.bytes)
                json.member("hash", content.hash)
                content.modified?.writeMembers(to: &json)
                json.member("executable", content.isExecutable)
                json.member("upload", content.upload)
                if let chunks = content.chunks { json.member("chunks", chunks) { $1.value($0) } }
            }
            json.member("rev", condition.revision)
            json.member("place_rev", condition.placeRevision)
            json.member("seen", condition.seen)
        }
    }

    private var verb: String {
        switch action {
        case .create(_, let content), .undelete(_, _, let content): content == nil ? "folder" : "put"
        case .edit: "put"
        case .move: "move"
        case .delete: "delete"
        }
    }
}

extension FileTime {
    /// Joins the extension's two members; nil when there is none.
    ///
    /// - Throws: ``JSONError`` for a time that no file has.
    init?(wire seconds: Int64?, _ nanoseconds: Int64?) throws(JSONError) {
        guard let seconds else { return nil }
        guard let time = FileTime(seconds: seconds, nanoseconds: nanoseconds ?? 0) else {
            throw JSONError(.invalid("of a time that no file has"))
        }
        self = time
    }

    /// Writes the extension's two members.
    func writeMembers(to json: inout JSONText) {
        json.member("mtime", date.seconds)
        json.member("mtime_nanos", fraction == 0 ? nil : fraction)
    }
}

extension SyncOperation.Place {
    fileprivate func writeMembers(to json: inout JSONText) {
        switch parent {
        case .node(let node): json.member("parent", node.number)
        case .operation(let index): json.member("parent_op", Int64(index))
        }
        json.member("name", name)
    }
}

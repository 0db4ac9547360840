/// The digests of a folder and of the folders directly in it, all at one moment.
public struct SyncDigest: Hashable, Sendable {
    /// One folder and its digest.
    public struct Folder: Hashable, Sendable {
        /// The folder.
        public var node: NodeID
        /// Its name.
        public var name: String
        /// Its digest.
        public var digest: TreeDigest

        /// Creates a pair.
        public init(node: NodeID, name: String, digest: TreeDigest) {
            self.node = node
            self.name = name
            self.digest = digest
        }
    }

    /// The folder that was asked for.
    public var node: NodeID
    /// The journal's last position at that moment.
    public var sequence: Int64
    /// The folder's digest.
    public var digest: TreeDigest
    /// The folders in it, in the order of their names' keys.
    public var folders: [Folder]

    /// Creates an answer.
    public init(node: NodeID, sequence: Int64, digest: TreeDigest, folders: [Folder]) {
        self.node = node
        self.sequence = sequence
        self.digest = digest
        self.folders = folders
    }
}

extension SyncDigest: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var node: NodeID?
        var sequence: Int64?
        var digest: TreeDigest?
        var folders: [Folder]?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "id": node = try json.value()
            case "seq": sequence = try json.value()
            case "digest": digest = try json.value()
            case "folders": folders = try json.value()
            default: try json.skip()
            }
        }
        try self.init(
            node: node.required("id"), sequence: sequence.required("seq"), digest: digest.required("digest"),
            folders: folders.required("folders"))
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("id", node.number)
            json.member("seq", sequence)
            json.member("digest", digest.description)
            json.member("folders", folders) { $0.write(to: &$1) }
        }
    }
}

extension SyncDigest.Folder: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var node: NodeID?
        var name: String?
        var digest: TreeDigest?
        try json.object { (json, key) throws(JSONError) in
            switch key {
            case "id": node = try json.value()
            case "name": name = try json.value()
            case "digest": digest = try json.value()
            default: try json.skip()
            }
        }
        try self.init(node: node.required("id"), name: name.required("name"), digest: digest.required("digest"))
    }

    fileprivate func write(to json: inout JSONText) {
        json.object { json in
            json.member("id", node.number)
            json.member("name", name)
            json.member("digest", digest.description)
        }
    }
}

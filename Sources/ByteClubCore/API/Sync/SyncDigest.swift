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
        guard let node else { throw JSONError(.missing("id")) }
        guard let sequence else { throw JSONError(.missing("seq")) }
        guard let digest else { throw JSONError(.missing("digest")) }
        guard let folders else { throw JSONError(.missing("folders")) }
        self.init(node: node, sequence: sequence, digest: digest, folders: folders)
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("id", node.number)
            json.member("seq", sequence)
            json.member("digest", digest.description)
            json.key("folders")
            json.array { json in
                for folder in folders { folder.write(to: &json) }
            }
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
        guard let node else { throw JSONError(.missing("id")) }
        guard let name else { throw JSONError(.missing("name")) }
        guard let digest else { throw JSONError(.missing("digest")) }
        self.init(node: node, name: name, digest: digest)
    }

    fileprivate func write(to json: inout JSONText) {
        json.object { json in
            json.member("id", node.number)
            json.member("name", name)
            json.member("digest", digest.description)
        }
    }
}

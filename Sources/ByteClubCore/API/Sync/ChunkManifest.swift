/// The head of a request that brings many chunks at once: their hashes and lengths, in the order of the bytes that follow.
public struct ChunkManifest: Hashable, Sendable {
    /// One chunk.
    public struct Chunk: Hashable, Sendable {
        /// The hash of its bytes.
        public var hash: ContentHash
        /// Its length in bytes.
        public var bytes: Int64

        /// Describes a chunk.
        public init(hash: ContentHash, bytes: Int64) {
            self.hash = hash
            self.bytes = bytes
        }
    }

    /// The most chunks of one request.
    public static let maximumChunks = 1_000
    /// The most bytes of one chunk: 16 MiB, so that a photo is one chunk.
    public static let maximumChunkBytes: Int64 = 16 << 20
    /// The most bytes of all chunks of one request: 1 GiB.
    public static let maximumChunksBytes: Int64 = 1 << 30
    /// The longest manifest on the wire in bytes.
    public static let maximumBytes = 256 << 10

    /// The chunks.
    public var chunks: [Chunk]

    /// Creates a manifest.
    public init(_ chunks: [Chunk]) {
        self.chunks = chunks
    }

    /// The bytes of all chunks; nil when the lengths are negative or add up to more than ``maximumChunksBytes``.
    public var sum: Int64? {
        var sum: Int64 = 0
        for chunk in chunks {
            guard chunk.bytes >= 0, chunk.bytes <= Self.maximumChunksBytes - sum else { return nil }
            sum += chunk.bytes
        }
        return sum
    }
}

extension ChunkManifest: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        self.init(
            try json.member("chunks") { (json) throws(JSONError) in try json.values(atMost: Self.maximumChunks) })
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("chunks", chunks) { chunk, json in
                json.object { json in
                    json.member("hash", chunk.hash)
                    json.member("bytes", chunk.bytes)
                }
            }
        }
    }
}

extension ChunkManifest.Chunk: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var hash: ContentHash?
        var bytes: Int64?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "hash": hash = try json.value()
            case "bytes": bytes = try json.value()
            default: try json.skip()
            }
        }
        try self.init(hash: hash.required("hash"), bytes: bytes.required("bytes"))
    }
}

/// Hashes of chunks, such as those that the server lacks of a client's.
public struct ChunkList: Hashable, Sendable {
    /// The longest list on the wire in bytes.
    public static let maximumBytes = 1 << 20

    /// The hashes.
    public var hashes: [ContentHash]

    /// Creates a list.
    public init(_ hashes: [ContentHash]) {
        self.hashes = hashes
    }
}

extension ChunkList: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        self.init(try json.member("hashes") { (json) throws(JSONError) in try json.value() })
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in json.member("hashes", hashes) { $1.value($0) } }
    }
}

/// Which chunks a client wants to send, and in which content of the server's most of them may be already.
public struct ChunkQuestion: Hashable, Sendable {
    /// A version of a file that the server has.
    public struct Base: Hashable, Sendable {
        /// The file.
        public var node: NodeID
        /// The revision of its content.
        public var revision: Int64

        /// Names a version.
        public init(_ node: NodeID, _ revision: Int64) {
            self.node = node
            self.revision = revision
        }
    }

    /// The hashes of the chunks.
    public var hashes: [ContentHash]
    /// The version that the content was made from; nil when there is none.
    public var base: Base?

    /// Creates a question.
    public init(_ hashes: [ContentHash], base: Base? = nil) {
        self.hashes = hashes
        self.base = base
    }
}

extension ChunkQuestion: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var hashes: [ContentHash]?
        var base: Base?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "hashes": hashes = try json.value()
            case "base": base = try json.optional()
            default: try json.skip()
            }
        }
        self.init(try hashes.required("hashes"), base: base)
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("hashes", hashes) { $1.value($0) }
            if let base {
                json.key("base")
                json.object { json in
                    json.member("id", base.node.number)
                    json.member("rev", base.revision)
                }
            }
        }
    }
}

extension ChunkQuestion.Base: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var (node, revision): (NodeID?, Int64?)
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "id": node = try json.value()
            case "rev": revision = try json.value()
            default: try json.skip()
            }
        }
        self.init(try node.required("id"), try revision.required("rev"))
    }
}

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
        var chunks: [Chunk]?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "chunks": chunks = try json.values(atMost: Self.maximumChunks)
            default: try json.skip()
            }
        }
        guard let chunks else { throw JSONError(.missing("chunks")) }
        self.init(chunks)
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.key("chunks")
            json.array { json in
                for chunk in chunks {
                    json.object { json in
                        json.key("hash")
                        json.value(chunk.hash)
                        json.key("bytes")
                        json.value(chunk.bytes)
                    }
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
        guard let hash else { throw JSONError(.missing("hash")) }
        guard let bytes else { throw JSONError(.missing("bytes")) }
        self.init(hash: hash, bytes: bytes)
    }
}

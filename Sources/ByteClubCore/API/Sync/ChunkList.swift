/// The hashes of chunks: those that a client has, or those of them that the server has not.
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
        var hashes: [ContentHash]?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "hashes": hashes = try json.value()
            default: try json.skip()
            }
        }
        guard let hashes else { throw JSONError(.missing("hashes")) }
        self.init(hashes)
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.key("hashes")
            json.array { json in
                for hash in hashes { json.value(hash.description) }
            }
        }
    }
}

/// One change in the order in which a server tells them: an entry's new state, or that it is gone.
public struct DeltaEntry: Hashable, Sendable, Codable {
    /// The key of the path that changed.
    public let key: PathKey
    /// The entry's new state; nil when it is gone, with all that was below it.
    public let metadata: Metadata?

    /// Creates a change.
    public init(key: PathKey, metadata: Metadata?) {
        self.key = key
        self.metadata = metadata
    }

    /// Decodes the wire's two-element array.
    public init(from decoder: any Decoder) throws {
        var pair = try decoder.unkeyedContainer()
        key = try pair.decode(PathKey.self)
        metadata = try pair.decodeNil() ? nil : pair.decode(Metadata.self)
    }

    /// Encodes the wire's two-element array.
    public func encode(to encoder: any Encoder) throws {
        var pair = encoder.unkeyedContainer()
        try pair.encode(key)
        if let metadata { try pair.encode(metadata) } else { try pair.encodeNil() }
    }
}

/// What `/delta` answers: changes since a cursor.
public struct DeltaPage: Hashable, Sendable, Codable {
    /// Whether the client must forget its state before it applies the entries.
    public var reset: Bool
    /// Where the next call goes on.
    public var cursor: String
    /// Whether more changes can be had at once.
    public var hasMore: Bool
    /// The changes, the last one last, a parent before its children.
    public var entries: [DeltaEntry]

    private enum CodingKeys: String, CodingKey {
        case reset, cursor, hasMore = "has_more", entries
    }

    /// Creates a page.
    public init(reset: Bool, cursor: String, hasMore: Bool, entries: [DeltaEntry]) {
        self.reset = reset
        self.cursor = cursor
        self.hasMore = hasMore
        self.entries = entries
    }
}

/// What `/longpoll_delta` answers.
public struct LongpollResult: Hashable, Sendable, Codable {
    /// Whether `/delta` has something after the cursor.
    public var changes: Bool
    /// Seconds to wait before the next call.
    public var backoff: Int?

    /// Creates an answer.
    public init(changes: Bool, backoff: Int? = nil) {
        self.changes = changes
        self.backoff = backoff
    }
}

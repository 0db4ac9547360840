/// One change: an entry's new state, or its deletion.
public struct DeltaEntry: Hashable, Sendable {
    /// The key of the path that changed.
    public let key: PathKey
    /// The entry's new state; nil when it was deleted with everything below it.
    public let metadata: Metadata?

    /// Creates a change.
    public init(key: PathKey, metadata: Metadata?) {
        self.key = key
        self.metadata = metadata
    }
}

/// What `/delta` answers: changes since a cursor.
public struct DeltaPage: Hashable, Sendable {
    /// Whether the client must forget its state before it applies the entries.
    public var reset: Bool
    /// The cursor for the next call.
    public var cursor: String
    /// Whether more changes can be had at once.
    public var hasMore: Bool
    /// The changes, the last one last, a parent before its children.
    public var entries: [DeltaEntry]

    /// The most changes of one page that a client accepts.
    public static let mostEntries = 25_000

    /// Creates a page.
    public init(reset: Bool, cursor: String, hasMore: Bool, entries: [DeltaEntry]) {
        self.reset = reset
        self.cursor = cursor
        self.hasMore = hasMore
        self.entries = entries
    }
}

/// What `/longpoll_delta` answers.
public struct LongpollResult: Hashable, Sendable {
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

extension DeltaEntry: JSONReadable {
    /// Reads the wire's two-element array.
    public init(json: inout JSONReader) throws(JSONError) {
        var key: PathKey?
        var metadata: Metadata?
        var count = 0
        try json.array { (json) throws(JSONError) in
            switch count {
            case 0: key = try Self.key(try json.string())
            case 1: metadata = try json.optional()
            default: try json.skip()
            }
            count += 1
        }
        guard let key, count >= 2 else { throw JSONError(.invalid("not a pair of a path and metadata")) }
        self.init(key: key, metadata: metadata)
    }

    /// A key may have more bytes than its path, since some letters are longer in lower case.
    private static func key(_ text: String) throws(JSONError) -> PathKey {
        if text.utf8.count > 2 * NameRules.maximumPathBytes {
            throw JSONError(.invalid("a path that is longer than \(NameRules.maximumPathBytes) bytes"))
        }
        return PathKey(folded: text)
    }
}

extension DeltaPage: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var (reset, hasMore): (Bool?, Bool?)
        var cursor: String?
        var entries: [DeltaEntry]?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "reset": reset = try json.value()
            case "cursor": cursor = try json.cursor()
            case "has_more": hasMore = try json.value()
            case "entries": entries = try json.values(atMost: Self.mostEntries)
            default: try json.skip()
            }
        }
        try self.init(
            reset: reset.required("reset"), cursor: cursor.required("cursor"), hasMore: hasMore.required("has_more"),
            entries: entries.required("entries"))
    }
}

extension JSONReader {
    /// Reads a cursor, which returns to the server in the target of a request.
    mutating func cursor() throws(JSONError) -> String {
        let cursor = try string()
        if cursor.utf8.count > 4_096 { throw JSONError(.invalid("a cursor that is longer than 4096 bytes")) }
        return cursor
    }
}

extension LongpollResult: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var changes: Bool?
        var backoff: Int64?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "changes": changes = try json.value()
            case "backoff": backoff = try json.optional()
            default: try json.skip()
            }
        }
        try self.init(changes: changes.required("changes"), backoff: backoff.map { Int(clamping: $0) })
    }
}

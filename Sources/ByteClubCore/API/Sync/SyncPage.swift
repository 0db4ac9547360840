/// Some changes of the journal, in its order.
public struct SyncPage: Hashable, Sendable {
    /// Whether a refresh starts here: what is not listed until ``hasMore`` is false does not exist.
    public var isReset: Bool
    /// Where the next page starts.
    public var cursor: String
    /// The journal's position up to which everything has been listed; nil while there is more.
    public var sequence: Int64?
    /// Whether the next page can be had at once.
    public var hasMore: Bool
    /// The entries as they are now; a folder before what it holds, and a deleted folder for all that it held.
    public var entries: [SyncEntry]

    /// The most entries that a page has, whatever is asked for.
    public static let mostEntries = 10_000

    /// Creates a page.
    public init(isReset: Bool, cursor: String, sequence: Int64?, hasMore: Bool, entries: [SyncEntry]) {
        self.isReset = isReset
        self.cursor = cursor
        self.sequence = sequence
        self.hasMore = hasMore
        self.entries = entries
    }
}

extension SyncPage: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var (isReset, hasMore): (Bool?, Bool?)
        var cursor: String?
        var sequence: Int64?
        var entries: [SyncEntry]?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "reset": isReset = try json.value()
            case "cursor": cursor = try json.cursor()
            case "seq": sequence = try json.optional()
            case "has_more": hasMore = try json.value()
            case "entries": entries = try json.values(atMost: Self.mostEntries)
            default: try json.skip()
            }
        }
        guard let isReset else { throw JSONError(.missing("reset")) }
        guard let cursor else { throw JSONError(.missing("cursor")) }
        guard let hasMore else { throw JSONError(.missing("has_more")) }
        guard let entries else { throw JSONError(.missing("entries")) }
        self.init(isReset: isReset, cursor: cursor, sequence: sequence, hasMore: hasMore, entries: entries)
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.key("reset")
            json.value(isReset)
            json.member("cursor", cursor)
            json.member("seq", sequence)
            json.key("has_more")
            json.value(hasMore)
            json.key("entries")
            json.array { json in
                for entry in entries { entry.write(to: &json) }
            }
        }
    }
}

/// What came of one operation of a batch.
public struct SyncResult: Hashable, Sendable {
    /// The status: 200, or why nothing was done.
    public var status: Int
    /// The entry as the operation left it; with a refusal, the entry that it conflicts with, as it is now.
    public var entry: SyncEntry?
    /// One line for people; nil when it was done.
    public var message: String?

    /// Creates a result.
    public init(status: Int, entry: SyncEntry?, message: String? = nil) {
        self.status = status
        self.entry = entry
        self.message = message
    }

    /// Whether the operation was done, now or the first time it was sent.
    public var isDone: Bool { status == 200 }
}

/// What came of a batch.
public struct SyncOutcome: Hashable, Sendable {
    /// Whether anything was done; false when all or nothing was asked for and one operation was refused.
    public var isApplied: Bool
    /// The journal's last position after the batch.
    public var sequence: Int64
    /// One for each operation, in order.
    public var results: [SyncResult]

    /// Creates an outcome.
    public init(isApplied: Bool, sequence: Int64, results: [SyncResult]) {
        self.isApplied = isApplied
        self.sequence = sequence
        self.results = results
    }
}

extension SyncResult: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var status: Int64?
        var entry: SyncEntry?
        var message: String?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "status": status = try json.value()
            case "entry", "current": entry = try json.optional()
            case "error": message = try json.optional(String.self).map(Self.line)
            default: try json.skip()
            }
        }
        guard let status else { throw JSONError(.missing("status")) }
        self.init(status: Int(clamping: status), entry: entry, message: message)
    }

    /// As much of what the server says as a person would read.
    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(500)))
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("status", Int64(status))
            json.member("error", message)
            if let entry {
                if isDone { json.key("entry") } else { json.key("current") }
                entry.write(to: &json)
            }
        }
    }
}

extension SyncOutcome: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var isApplied: Bool?
        var sequence: Int64?
        var results: [SyncResult]?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "applied": isApplied = try json.value()
            case "seq": sequence = try json.value()
            case "results": results = try json.values(atMost: SyncBatch.maximumOperations)
            default: try json.skip()
            }
        }
        guard let isApplied else { throw JSONError(.missing("applied")) }
        guard let sequence else { throw JSONError(.missing("seq")) }
        guard let results else { throw JSONError(.missing("results")) }
        self.init(isApplied: isApplied, sequence: sequence, results: results)
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.key("applied")
            json.value(isApplied)
            json.member("seq", sequence)
            json.key("results")
            json.array { json in
                for result in results { result.write(to: &json) }
            }
        }
    }
}

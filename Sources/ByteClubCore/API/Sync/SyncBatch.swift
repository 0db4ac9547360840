/// Writes that are done in their order and become durable together.
public struct SyncBatch: Hashable, Sendable {
    /// The most operations of one batch.
    public static let maximumOperations = 1_000
    /// The most bytes of one batch, all contents and the head included: 8 MiB.
    public static let maximumBytes = 8 << 20
    /// The most bytes that the chunks which a batch names may make together: 32 GiB.
    public static let maximumChunkedBytes: Int64 = 32 << 30
    /// The most bytes of one inline content of a batch or a page: 64 KiB.
    public static let maximumInlineBytes: Int64 = 64 << 10

    /// What to do, in order.
    public var operations: [SyncOperation]
    /// Whether nothing is done when one operation is refused.
    public var isAllOrNothing: Bool

    /// Creates a batch.
    public init(_ operations: [SyncOperation], isAllOrNothing: Bool = false) {
        self.operations = operations
        self.isAllOrNothing = isAllOrNothing
    }
}

extension SyncBatch: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var operations: [SyncOperation]?
        var isAllOrNothing = false
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "operations": operations = try json.value()
            case "all_or_nothing": isAllOrNothing = try json.optional() ?? false
            default: try json.skip()
            }
        }
        self.init(try operations.required("operations"), isAllOrNothing: isAllOrNothing)
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            if isAllOrNothing { json.member("all_or_nothing", true) }
            json.member("operations", operations) { $0.write(to: &$1) }
        }
    }
}

/// A JSON text in one line and the bytes that belong to it, in one body: the text, a newline, then the bytes.
///
/// Contents are sent verbatim, without encoding or scanning.
public struct SyncFrame: Hashable, Sendable {
    /// The MIME type.
    public static let mime = "application/vnd.byteclub.frame"

    /// The text.
    public var head: [UInt8]
    /// The bytes of the contents, one after the other.
    public var bodies: ArraySlice<UInt8>

    /// Splits a body at its first newline; nil when there is none.
    public init?(_ bytes: [UInt8]) {
        guard let newline = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        head = Array(bytes[..<newline])
        bodies = bytes[(newline + 1)...]
    }

    /// Removes and returns the next content; nil when fewer bytes are left.
    public mutating func next(_ count: Int64) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= Int64(bodies.count) else { return nil }
        defer { bodies = bodies.dropFirst(Int(count)) }
        return bodies.prefix(Int(count))
    }

    /// One body of a text and the bytes that belong to it.
    public static func join(_ head: [UInt8], _ bodies: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(head.count + 1 + bodies.reduce(0) { $0 + $1.count })
        bytes += head
        bytes.append(UInt8(ascii: "\n"))
        for body in bodies { bytes += body }
        return bytes
    }
}

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
        self.init(status: Int(clamping: try status.required("status")), entry: entry, message: message)
    }

    /// The server's text, cut to the length that a person would read.
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
        try self.init(
            isApplied: isApplied.required("applied"), sequence: sequence.required("seq"),
            results: results.required("results"))
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("applied", isApplied)
            json.member("seq", sequence)
            json.member("results", results) { $0.write(to: &$1) }
        }
    }
}

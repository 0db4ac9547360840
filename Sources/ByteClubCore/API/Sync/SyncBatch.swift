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
        guard let operations else { throw JSONError(.missing("operations")) }
        self.init(operations, isAllOrNothing: isAllOrNothing)
    }

    /// Writes the wire's object.
    public func write(to json: inout JSONText) {
        json.object { json in
            if isAllOrNothing {
                json.key("all_or_nothing")
                json.value(true)
            }
            json.key("operations")
            json.array { json in
                for operation in operations { operation.write(to: &json) }
            }
        }
    }
}

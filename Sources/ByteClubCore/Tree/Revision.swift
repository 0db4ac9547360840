/// One version of one entry, as a server names it: a text that is equal to another or not, and says no more.
///
/// Where a server has an order of its versions, their names are ``JournalRevision``s.
public struct Revision: Hashable, Sendable, Encodable, CustomStringConvertible {
    /// The most UTF-8 bytes of a name, enough for an ETag (RFC 9110 section 8.8.3).
    public static let maximumBytes = 256

    /// The server's text.
    public let description: String

    /// Takes the server's text: 1 to ``maximumBytes`` bytes without control characters; nil for anything else.
    public init?(_ text: String) {
        let isPrintable = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
        guard isPrintable, (1...Self.maximumBytes).contains(text.utf8.count) else { return nil }
        description = text
    }

    /// Takes a journal's version, whose text is known to be one.
    init(_ version: JournalRevision) { description = version.description }

    /// Whether both are the same to the byte; texts that are only composed differently are not.
    public static func == (left: Revision, right: Revision) -> Bool {
        left.description.utf8.elementsEqual(right.description.utf8)
    }

    /// Encodes the server's text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension Revision: JSONTextReadable {
    static var jsonForm: String { "a rev" }
}

/// One version of one entry, as a server names it: an opaque text that can only be compared for equality.
///
/// Where a server has an order of its versions, their names are ``JournalRevision``s.
public struct Revision: Hashable, Sendable, Encodable, CustomStringConvertible {
    /// The most UTF-8 bytes of a name, enough for an ETag (RFC 9110 section 8.8.3).
    public static let maximumBytes = 256

    /// The server's text.
    public let description: String

    /// Creates a revision from the server's text: 1 to ``maximumBytes`` bytes without control characters; nil for
    /// anything else.
    public init?(_ text: String) {
        let isPrintable = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
        guard isPrintable, (1...Self.maximumBytes).contains(text.utf8.count) else { return nil }
        description = text
    }

    /// The revision of a journal's version, whose text is always valid.
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

/// A version of an entry as a journal counts them: the number of the change in its namespace, and the namespace.
///
/// On the wire it is lower-case hexadecimal: the number, then eight digits for the namespace. Clients see a
/// ``Revision``, which they may parse only with ``RemotePowers/orderedRevisions``.
public struct JournalRevision: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number of the change, from 1, strictly rising within a namespace.
    public let number: Int64
    /// The namespace whose changes are counted.
    public let namespace: UInt32

    /// Creates the revision of a change.
    public init(number: Int64, namespace: UInt32 = 1) {
        self.number = number
        self.namespace = namespace
    }

    /// Reads the wire's form: 9 to 24 hexadecimal digits; nil when the text is anything else.
    public init?(_ text: String) {
        let digits = text.utf8
        guard digits.count >= 9, digits.count <= 24, digits.allSatisfy({ Hexadecimal.value($0) != nil }),
            let number = Int64(text.dropLast(8), radix: 16), let namespace = UInt32(text.suffix(8), radix: 16)
        else { return nil }
        self.init(number: number, namespace: namespace)
    }

    /// Reads a server's name of a version; nil when it is no journal's.
    public init?(_ revision: Revision) { self.init(revision.description) }

    /// The version as clients name it.
    public var revision: Revision { Revision(self) }

    /// The wire's form.
    public var description: String {
        String(number, radix: 16) + String(namespace, radix: 16).padded(to: 8)
    }

    /// Orders by number.
    public static func < (left: JournalRevision, right: JournalRevision) -> Bool {
        (left.namespace, left.number) < (right.namespace, right.number)
    }
}

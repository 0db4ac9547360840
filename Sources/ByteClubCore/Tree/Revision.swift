/// One version of one entry: the number of the change in its namespace, and the namespace.
///
/// On the wire it is lower-case hexadecimal, opaque to clients: the number, then eight digits for the namespace.
public struct Revision: Hashable, Sendable, Comparable, Encodable, CustomStringConvertible {
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

    /// The wire's form.
    public var description: String {
        let tail = String(namespace, radix: 16)
        return String(number, radix: 16) + String(repeating: "0", count: 8 - tail.count) + tail
    }

    /// Orders by number.
    public static func < (left: Revision, right: Revision) -> Bool {
        (left.namespace, left.number) < (right.namespace, right.number)
    }

    /// Encodes the wire's form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension Revision: JSONTextReadable {
    static var jsonForm: String { "a rev" }
}

/// A version of an entry as a journal counts them: the number of the change in its namespace, and the namespace.
///
/// On the wire it is lower-case hexadecimal: the number, then eight digits for the namespace. To a client that is a
/// ``Revision``, of which only ``RemotePowers/orderedRevisions`` says that it can be read.
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
        let tail = String(namespace, radix: 16)
        return String(number, radix: 16) + String(repeating: "0", count: 8 - tail.count) + tail
    }

    /// Orders by number.
    public static func < (left: JournalRevision, right: JournalRevision) -> Bool {
        (left.namespace, left.number) < (right.namespace, right.number)
    }
}

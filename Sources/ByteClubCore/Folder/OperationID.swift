/// What a client calls one of its writes, so that repeating it does nothing twice: 1 to 64 visible ASCII characters.
///
/// Names that rise with time, such as a device's name and a counter, are the quickest to keep.
public struct OperationID: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let text: String

    /// Reads a name; nil when it is empty, too long or has other characters.
    public init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        self.text = text
    }

    /// The name.
    public var description: String { text }
}

extension OperationID: JSONTextReadable {
    static var jsonForm: String { "an operation's name of 1 to 64 visible ASCII characters" }
}

/// A client that calls its operations by a name of its own, a hyphen and a number.
public struct OperationWriter: Hashable, Sendable {
    /// The member whose operations they are.
    public let member: Int64
    private let prefix: String

    /// Describes the writer of a member's operations with this name; nil when no operation's name can
    /// begin with it.
    public init?(member: Int64, name: String) {
        prefix = name + "-"
        guard OperationID(prefix + "1") != nil else { return nil }
        self.member = member
    }

    /// Whether a member's operation is one of the writer's.
    public func isWriter(of operation: OperationID, by member: Int64) -> Bool {
        isWriter(of: operation.text, by: member)
    }

    /// Whether a member's operation with this text is one of the writer's.
    public func isWriter(of operation: String, by member: Int64) -> Bool {
        member == self.member && operation.utf8.starts(with: prefix.utf8)
    }
}

/// The outcome of an operation that was done.
public enum OperationOutcome: Hashable, Sendable {
    /// It made this version, or found it to be there already.
    case made(FolderEntry)
    /// What it made is not kept any more.
    case forgotten
}

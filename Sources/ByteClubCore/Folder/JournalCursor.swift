/// A place in a shared folder's journal.
///
/// Reading from one place to the journal's end is a walk of one or more pages; the cursor between two pages remembers
/// where the walk began. A client treats the text as opaque.
public struct JournalCursor: Hashable, Sendable, CustomStringConvertible {
    /// Which server's journal it is; changes when a server's numbering starts over.
    public var epoch: String
    /// The last position that was told.
    public var position: Int64
    /// The position up to which everything was known when the walk began.
    public var known: Int64
    /// The journal's last position when the walk began; nil between walks.
    public var end: Int64?

    /// Creates a cursor; without an end one between walks.
    public init(epoch: String, position: Int64, known: Int64? = nil, end: Int64? = nil) {
        self.epoch = epoch
        self.position = position
        self.known = known ?? position
        self.end = end
    }

    /// Reads the text; nil when it is anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.dropFirst().map { Int64($0) ?? -1 }
        guard let epoch = parts.first, !epoch.isEmpty, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        switch numbers.count {
        case 1: self.init(epoch: String(epoch), position: numbers[0])
        case 3: self.init(epoch: String(epoch), position: numbers[0], known: numbers[1], end: numbers[2])
        default: return nil
        }
    }

    /// The text.
    public var description: String {
        "\(epoch).\(position)" + (end.map { ".\(known).\($0)" } ?? "")
    }
}

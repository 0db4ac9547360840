/// The member who made a version, as Core API v1 tells it.
public struct Modifier: Hashable, Sendable {
    /// The most bytes of a name that is read.
    static let longestName = 1_024

    /// The member's number.
    public var uid: Int64
    /// The member's name; that of a member who was removed, too.
    public var displayName: String

    /// Describes a member.
    public init(uid: Int64, displayName: String) {
        self.uid = uid
        self.displayName = displayName
    }
}

extension Modifier: JSONReadable {
    /// Reads the wire's object; `same_team` is of no use here.
    public init(json: inout JSONReader) throws(JSONError) {
        var uid: Int64?
        var displayName: String?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "uid": uid = try json.value()
            case "display_name": displayName = try json.memberName()
            default: try json.skip()
            }
        }
        guard let uid else { throw JSONError(.missing("uid")) }
        guard let displayName else { throw JSONError(.missing("display_name")) }
        self.init(uid: uid, displayName: displayName)
    }
}

extension JSONReader {
    /// Reads a member's name, which is kept and shown.
    mutating func memberName() throws(JSONError) -> String {
        let name = try string()
        if name.utf8.count > Modifier.longestName {
            throw JSONError(.invalid("a name that is longer than \(Modifier.longestName) bytes"))
        }
        return name
    }
}

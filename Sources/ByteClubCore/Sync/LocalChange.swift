/// A change of a mirror's directory that the server does not have.
public struct LocalChange: Hashable, Sendable, Codable {
    /// What was changed.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// It is here alone.
        case new
        /// A file has another content than the server's.
        case edited
        /// It has another name, or is in another folder, than on the server.
        case moved
        /// It is gone here.
        case deleted
    }

    /// The path relative to the mirror's root.
    public var path: String
    /// What was changed.
    public var kind: Kind
    /// Whether it is a folder, with all that is in it.
    public var isFolder: Bool
    /// Where the server has it, when that is elsewhere.
    public var from: String?

    /// Describes a change.
    public init(path: String, kind: Kind, isFolder: Bool, from: String? = nil) {
        self.path = path
        self.kind = kind
        self.isFolder = isFolder
        self.from = from
    }
}

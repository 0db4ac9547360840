/// The state of an entry of a mirror on each side, the planned operations, and the obstacles.
public struct SyncExplanation: Hashable, Sendable, Codable {
    /// An entry as one of the three trees has it.
    public struct Row: Hashable, Sendable, Codable {
        /// The path relative to the mirror's root.
        public var path: String
        /// Whether it is a folder.
        public var isFolder: Bool
        /// A file's length in bytes.
        public var size: Int64?
        /// A file's content hash as hexadecimal digits; nil when it was not read since its last change.
        public var hash: String?
        /// When the file was last written, in seconds since 1970; only of the disk's row.
        @OptionalJSONMoment public var modified: Int64?
        /// The server's name of the content's version; not of the disk's row.
        public var revision: String?

        /// Describes an entry.
        public init(
            path: String, isFolder: Bool, size: Int64? = nil, hash: String? = nil, modified: Int64? = nil,
            revision: String? = nil
        ) {
            self.path = path
            self.isFolder = isFolder
            self.size = size
            self.hash = hash
            self.modified = modified
            self.revision = revision
        }
    }

    /// The overall state of the entry.
    public enum State: String, Hashable, Sendable, Codable {
        /// Disk and server show the same.
        case inSync = "in-sync"
        /// Something is to be done, and nothing is in the way.
        case pending
        /// It is a large file that is being transferred.
        case underWay = "on-its-way"
        /// Something is in the way.
        case blocked
        /// The ignore rules or the selection keep it out.
        case excluded
    }

    /// The path that was asked about.
    public var path: String
    /// The overall state of the entry.
    public var state = State.inSync
    /// What the disk showed when it was last looked at.
    public var disk: Row?
    /// What the server last reported.
    public var server: Row?
    /// The state in which both were last equal.
    public var synced: Row?
    /// The rule that decides now.
    public var rule: String?
    /// The planned operations in order, one line each.
    public var next: [String] = []
    /// The obstacles, one line each; those that must be removed first come first.
    public var blockers: [String] = []
    /// Other useful facts, one line each.
    public var notes: [String] = []
    /// When the next attempt is made, in seconds since 1970; nil when no time is set for one.
    @OptionalJSONMoment public var nextAttempt: Int64? = nil

    /// Creates an empty explanation of a path.
    public init(path: String) { self.path = path }
}

/// A change of a mirror's directory that the server does not have.
public struct LocalChange: Hashable, Sendable, Codable {
    /// The kind of change.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// It is here alone.
        case new
        /// A file has another content than the server's.
        case edited
        /// It has another name, or is in another folder, than on the server.
        case moved
        /// It was deleted here.
        case deleted
    }

    /// The path relative to the mirror's root.
    public var path: String
    /// The kind of change.
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

/// Which content of a conflict is kept.
public enum ConflictSide: String, Hashable, Sendable, Codable, CaseIterable {
    /// This machine's, which is in the conflict copy.
    case mine
    /// The other's, which has the name.
    case theirs
    /// Both, as they are.
    case both
}

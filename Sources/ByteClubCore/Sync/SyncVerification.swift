/// What a comparison of a mirror's disk, of what the mirror knows and of the server has found; nothing was changed.
public struct SyncVerification: Sendable, Equatable {
    /// One path on which two of the three do not agree.
    public struct Difference: Sendable, Equatable {
        /// Who differs from what the mirror knows, and how.
        public enum Kind: String, Sendable, Equatable {
            /// The file on disk has another content.
            case disk
            /// The server has another content, or another kind of entry.
            case server
            /// The entry is not on disk.
            case missingOnDisk
            /// The entry is not on the server.
            case missingOnServer
            /// The server has an entry of which the mirror knows nothing.
            case unknownOnServer
            /// The file on disk cannot be read, or is being written.
            case unreadable
        }

        /// The path relative to the mirror's root.
        public var path: String
        /// Who differs, and how.
        public var kind: Kind
        /// One line for people with the found and the expected state.
        public var detail: String

        /// Describes a difference.
        public init(path: String, kind: Kind, detail: String) {
            self.path = path
            self.kind = kind
            self.detail = detail
        }
    }

    /// The most differences that are reported.
    public static let maximumDifferences = 1_000

    /// Files compared.
    public var files = 0
    /// Folders compared.
    public var folders = 0
    /// Bytes read from the disk.
    public var bytes: Int64 = 0
    /// Entries that were not compared because something is still to be done about them.
    public var unsettled = 0
    /// Entries of the disk that cannot be synced or are left out, of which the server has none.
    public var skipped = 0
    /// What differs, at most ``maximumDifferences`` of it, in the order in which it was found.
    public var differences: [Difference] = []

    /// Creates the result of a comparison that has found nothing yet.
    public init() {}

    /// Whether disk, mirror and server agree on all that was compared.
    public var isAgreed: Bool { differences.isEmpty }

    /// Notes a difference, unless there are too many.
    public mutating func add(_ difference: Difference) {
        if differences.count < Self.maximumDifferences { differences.append(difference) }
    }
}

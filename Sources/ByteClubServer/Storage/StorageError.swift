import ByteClubCore

/// A failure of the storage.
struct StorageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    enum Code: Hashable, Sendable {
        /// The disk is full; nothing was stored. The protocol's status is 507.
        case full
        /// A limit on what the club or a member may store is reached; nothing was stored. The protocol's status is 507.
        case overQuota
        /// The disk failed. The protocol's status is 500.
        case io
        /// The database or a content is not what it should be. The protocol's status is 500.
        case damaged
        /// There is no data directory.
        case missing
        /// There is something already where something new was to be made.
        case exists
        /// Another server uses the data directory.
        case inUse
        /// The store was closed. The protocol's status is 503.
        case closed
        /// An invalid name of a member, or another invalid value of one.
        case badMember
        /// There is no member of a name.
        case noMember
        /// A member has a name already, or one that looks like it.
        case nameTaken
        /// A change that would leave members without an owner. The protocol's status is 409.
        case lastOwner
        /// The entry does not exist any more. The protocol's status is 404.
        case notFound
        /// A limit on what one member may have at a time is reached; there is room again after so many seconds, at
        /// least 1. The protocol's status is 429.
        case tooMany(retryAfter: Int)
    }

    /// The kind of failure.
    let code: Code
    /// One line for people.
    let message: String

    /// Creates an error.
    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    var description: String { message }

    /// The entry at a path does not exist any more.
    static func notFound(_ path: RemotePath) -> StorageError {
        StorageError(.notFound, "Path '\(path)' not found")
    }
}

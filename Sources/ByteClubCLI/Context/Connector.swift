import ByteClubCore

/// How to reach the server of a club.
struct Connector: Sendable {
    /// What a connection is for; each kind has a session of its own.
    enum Lane: Hashable, Sendable {
        /// Notes and questions: several at once.
        case notes
        /// Photos: one at a time, at most so many bytes a second.
        case photos(bytesPerSecond: Int?)
        /// A mirror: many at once.
        case mirror
    }

    /// Opens a connection; nothing is sent before it is used.
    var open: @Sendable (Login, Lane) throws -> any Remote
}

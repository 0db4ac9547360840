/// Why syncing cannot go on.
public struct SyncError: Error, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: Hashable, Sendable {
        /// The mirror's directory is gone.
        case rootMissing
        /// The directory is not the one that was synced before, or is on another disk.
        case rootReplaced
        /// The configuration makes no sense.
        case configuration
        /// The database cannot be used.
        case database
        /// Another process syncs this mirror.
        case alreadyRunning
        /// The server refused or could not be reached.
        case remote(RemoteError)
        /// The disk refused.
        case io
        /// The caller cancelled.
        case cancelled
    }

    /// What kind of failure it is.
    public let code: Code
    /// One line for people that says what to do.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }

    /// Whether the same call may succeed later without anybody's doing.
    public var isRetryable: Bool {
        switch code {
        case .remote(let error): error.isRetryable
        case .io: true
        default: false
        }
    }
}

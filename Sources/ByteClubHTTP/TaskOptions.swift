public import HTTPTypes

/// What one task does differently from its session.
public struct TaskOptions: Sendable {
    /// The most bytes per second this task moves, in each direction; nil for no limit.
    ///
    /// Values below 1 count as 1.
    public var rateLimit: Int?

    /// A key that lets the server tell a repeated request from a new one; it makes a POST or PATCH retryable.
    ///
    /// It is sent as `Idempotency-Key` unless the request has that field already. Only give one to a server that
    /// honours it.
    public var idempotencyKey: String?

    /// Whether repeating the request does no harm although its method does not promise it, since the server tells a
    /// repeated one by something else that the request says; then it is repeated as a GET would be.
    public var isIdempotent = false

    /// Replaces ``SessionConfiguration/timeoutForRequest`` for this task, as a long poll needs.
    public var timeoutForRequest: Duration?

    /// The largest body held in memory: 64 MiB.
    ///
    /// A larger one fails with ``TransferError/Code/bodyTooLarge``.
    public var maximumResponseBytes = 64 << 20

    /// The most bytes that a successful response's body may have, in memory or in a file, told from its head; nil for
    /// no limit but ``maximumResponseBytes``, which is for memory alone.
    ///
    /// It is asked once, before the body comes. A longer body fails with ``TransferError/Code/bodyTooLarge``: on its
    /// way to a file at once when its `Content-Length` says so, otherwise with the first byte too many.
    public var maximumBodyBytes: (@Sendable (HTTPResponse) -> Int64)?

    /// Which redirects are followed.
    public var redirects = Redirects.all

    /// Whether the session may try again by itself.
    public var retries = true

    /// Which redirects a task follows; of one that it does not, the redirecting response is the result.
    public enum Redirects: Sendable, Hashable {
        /// All.
        case all
        /// Those of GET and HEAD within one origin: no body goes where it was not sent to, and nobody is sent
        /// elsewhere.
        case ownOrigin
        /// None.
        case none
    }

    /// The usual options.
    public init() {}
}

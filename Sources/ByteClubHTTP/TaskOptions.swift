public import HTTPTypes

/// What one task does differently from its session.
public struct TaskOptions: Sendable {
    /// The most bytes per second this task moves, in each direction; nil for no limit.
    ///
    /// Values below 1 count as 1.
    public var rateLimit: Int?

    /// How urgent the task is among those that wait for the same host.
    public var priority = SessionTask.Priority.normal

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

    /// Decides about the body of a response when its head is there; nil for what the task's kind says.
    ///
    /// It is asked once an attempt, for any status, but not about a redirect that is followed. It runs on the session's
    /// own thread, where nothing else moves meanwhile: it must not block. A task with one does not use the
    /// session's ``ResponseCache``.
    public var disposition: (@Sendable (HTTPResponse) -> ResponseDisposition)?

    /// A file in which a download keeps its ``ResumeData`` on disk while it runs, or nil.
    ///
    /// A program that is killed, or whose machine loses its power, reads it and goes on with
    /// ``ResumeData/init(bytes:)``. What came is synced and the file replaced after each 8 MiB, and after 5 seconds
    /// when fewer came, on a thread of its own; what came later is asked for again after a loss of
    /// power, and not after a kill. The file is there from the first byte of a download that can be continued, and stays when one ends with resume data; it is
    /// removed when the download is whole, ends otherwise or is cancelled. The whole file is not synced: until its owner
    /// has, a power cut may cost it. Each path is for one task at a time, and its folder must exist: a journal that
    /// cannot be made fails the task with ``TransferError/Code/cannotWriteFile``, one that cannot be written later stays
    /// as it was.
    public var resumeJournal: String?

    /// What the names of a download's temporary files begin with behind ``ResumeRecord/prefix``, so that they are found.
    var partTag = ""

    /// Which redirects are followed.
    public var redirects = Redirects.all

    /// Whether the session may try again by itself.
    public var retries = true

    /// Replaces ``SessionConfiguration/retryPolicy`` for this task; its budget stays the session's.
    public var retryPolicy: RetryPolicy? {
        get { own?.value.retryPolicy }
        set { own = .apart(Own(retryPolicy: newValue, policy: policy)) }
    }

    /// What this task does differently from ``SessionConfiguration/policy``.
    public var policy: RequestPolicy {
        get { own?.value.policy ?? RequestPolicy() }
        set { own = .apart(Own(retryPolicy: retryPolicy, policy: newValue)) }
    }

    /// Whether the task has a policy of its own.
    var hasPolicy: Bool { own != nil }

    private struct Own: Sendable {
        var retryPolicy: RetryPolicy?
        var policy: RequestPolicy
    }

    /// On the heap: most tasks have none, and thousands may wait.
    private indirect enum Boxed: Sendable {
        case apart(Own)

        var value: Own {
            switch self {
            case .apart(let own): own
            }
        }
    }

    private var own: Boxed?

    /// How the task uses ``SessionConfiguration/cache``, if there is one.
    public var cachePolicy = CachePolicy.protocolRules

    /// Whether the task sends and keeps the cookies of ``SessionConfiguration/cookieStore``, if there is one.
    public var usesCookies = true

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

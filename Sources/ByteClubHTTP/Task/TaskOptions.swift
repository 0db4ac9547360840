public import HTTPTypes

/// Settings of one task that override its session's.
public struct TaskOptions: Sendable {
    /// The maximum rate of this task in each direction, in bytes per second; nil for no limit.
    ///
    /// Values below 1 count as 1.
    public var rateLimit: Int?

    /// The priority among tasks that wait for the same host.
    public var priority = SessionTask.Priority.normal

    /// A key by which the server recognises a repeated request; it makes POST and PATCH retryable.
    ///
    /// It is sent as `Idempotency-Key` unless the request has that field. Use it only with a server that honours it.
    public var idempotencyKey: String?

    /// Whether the request may be repeated like a GET although its method does not promise it, since the server
    /// recognises a repetition by other means.
    public var isIdempotent = false

    /// Replaces ``SessionConfiguration/timeoutForRequest`` for this task, as a long poll needs.
    public var timeoutForRequest: Duration?

    /// Replaces ``SessionConfiguration/waitsForConnectivity`` for this task.
    public var waitsForConnectivity: Bool?

    /// Replaces ``SessionConfiguration/allowsMetered`` for this task.
    public var allowsMetered: Bool?

    /// Replaces ``SessionConfiguration/allowsConstrained`` for this task.
    public var allowsConstrained: Bool?

    /// Replaces ``SessionConfiguration/isDiscretionary`` for this task.
    public var isDiscretionary: Bool?

    /// Replaces ``SessionConfiguration/serviceType`` for this task.
    ///
    /// A connection has one type, so a task of another type than its session's does not use the session's connections:
    /// it makes its own, with HTTP/1.1, and closes it afterwards. Many tasks of one type had better have a session of
    /// that type.
    public var serviceType: ServiceType?

    /// The largest body held in memory: 64 MiB.
    ///
    /// A larger one fails with ``TransferError/Code/bodyTooLarge``.
    public var maximumResponseBytes = 64 << 20

    /// Whether the session's delegate receives the body of a 2xx response as it arrives, instead of the whole at once.
    ///
    /// It applies to ``Session/dataTask(_:body:options:)`` and ``Session/uploadTask(_:from:options:)`` of a session
    /// with a delegate. Each piece has up to 64 KiB; at most 1 MiB waits for a slow delegate, then the transfer is
    /// paused together with its timeouts. As for ``Session/bytes(for:body:options:)``, such a body is not decoded and
    /// not cached, uses HTTP/1.1, is not limited by ``maximumResponseBytes``, and nothing is retried once its head has
    /// arrived; ``TaskResult/bytes`` is empty. Other responses are delivered whole.
    public var deliversPieces = false

    /// The maximum body size of a successful response, in memory or in a file, as a function of its head; nil for no
    /// limit.
    ///
    /// ``maximumResponseBytes`` still limits bodies in memory.
    ///
    /// The function is called once, before the body arrives. A longer body fails with
    /// ``TransferError/Code/bodyTooLarge``: a file at once if its `Content-Length` is too large, otherwise with the
    /// first excess byte.
    public var maximumBodyBytes: (@Sendable (HTTPResponse) -> Int64)?

    /// Decides how to handle the body of a response when its head was received; nil to follow the kind of task.
    ///
    /// It is called once per attempt, for any status, but not for a redirect that is followed. It runs on the session's
    /// thread and must not block, since all other transfers wait for it. A task with a disposition does not use the
    /// session's ``ResponseCache``.
    public var disposition: (@Sendable (HTTPResponse) -> ResponseDisposition)?

    /// A file that holds a download's ``ResumeData`` on disk while it runs, or nil.
    ///
    /// After a kill or a power cut, a program reads this file and resumes with ``ResumeData/init(bytes:)``. A separate
    /// thread syncs the received bytes and replaces the file after each 8 MiB, or after 5 seconds with fewer bytes; a
    /// power cut loses the bytes received later, a kill does not. The file exists from the first byte of a resumable
    /// download, and remains if the download ends with resume data; it is removed when the download completes, ends
    /// otherwise or is cancelled. The completed download is not synced: a power cut may lose it until its owner syncs
    /// it. Each path may be used by one task at a time, and its folder must exist. A journal that cannot be created
    /// fails the task with ``TransferError/Code/cannotWriteFile``; one that cannot be updated later stays as it was.
    public var resumeJournal: String?

    /// A tag after ``ResumeRecord/prefix`` in the names of a download's temporary files, by which they can be found.
    var partTag = ""

    /// Which redirects are followed.
    public var redirects = Redirects.all

    /// Whether the session may retry.
    public var retries = true

    /// Replaces ``SessionConfiguration/retryPolicy`` for this task; its budget stays the session's.
    public var retryPolicy: RetryPolicy? {
        get { if case .apart(let policy, _) = own { policy } else { nil } }
        set { own = .apart(newValue, policy) }
    }

    /// This task's overrides of ``SessionConfiguration/policy``.
    public var policy: RequestPolicy {
        get { if case .apart(_, let policy) = own { policy } else { RequestPolicy() } }
        set { own = .apart(retryPolicy, newValue) }
    }

    /// Whether the task has a policy of its own.
    var hasPolicy: Bool { if case .none = own { false } else { true } }

    /// On the heap: most tasks have none, and thousands may wait.
    private indirect enum Own: Sendable {
        case none
        case apart(RetryPolicy?, RequestPolicy)
    }

    private var own = Own.none

    /// How the task uses ``SessionConfiguration/cache``, if there is one.
    public var cachePolicy = CachePolicy.protocolRules

    /// Whether the task sends and keeps the cookies of ``SessionConfiguration/cookieStore``, if there is one.
    public var usesCookies = true

    /// Which redirects a task follows; a redirect that is not followed is the result.
    public enum Redirects: Sendable, Hashable {
        /// All.
        case all
        /// Redirects of GET and HEAD within one origin, so that no body is sent to another address and no request to
        /// another origin.
        case ownOrigin
        /// None.
        case none
    }

    /// Creates the default options.
    public init() {}
}

/// How to handle a response's body once its head was received.
public enum ResponseDisposition: Sendable, Hashable {
    /// Handle it as the kind of task requires.
    case allow
    /// Do not receive it: the task ends with ``TransferError/Code/cancelled``.
    case cancel
    /// Write it to the file at this path, as a download would, whatever the status; its folder must exist.
    ///
    /// The body is then neither kept in memory nor streamed. It is decoded if the task's body would be. A download task
    /// keeps its own file instead.
    case download(to: String)
}

/// How a task uses its session's ``ResponseCache``.
public enum CachePolicy: Sendable, Hashable {
    /// As HTTP defines (RFC 9111): a fresh response is used, a stale one is revalidated.
    case protocolRules
    /// Always ask the server, and store its response.
    case reload
    /// Use a stored response of any age; without one, ask the server.
    case storedElseLoad
    /// Use a stored response of any age; without one the task fails with ``TransferError/Code/notStored``, and nothing
    /// is sent.
    case storedOnly
}

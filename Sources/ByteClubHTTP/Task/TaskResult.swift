public import HTTPTypes

/// The result of a task.
///
/// Any status is a result, including 404 and 500.
public struct TaskResult: Sendable {
    /// The final response: after redirects and retries.
    public var response: HTTPResponse

    /// The body, unless it was written to a file.
    public var bytes: [UInt8]

    /// The path of the file with the body; only for a download with a 2xx response.
    public var file: String?

    /// Data to resume a download whose last response was not 2xx, such as 403 for an expired signature; nil otherwise.
    public var resumeData: ResumeData?

    /// The last counters.
    public var progress: TaskProgress

    /// The final URL without its query.
    public var url: String

    /// The timing of each attempt.
    public var metrics = TaskMetrics()

    /// The source of the response.
    public var source = Source.network

    /// The source of a response.
    public enum Source: Sendable, Hashable {
        /// The server sent it.
        case network
        /// The session's ``ResponseCache`` had it; the server was not asked.
        case cache
        /// The cache had it, and the server confirmed it (304).
        case validated
    }
}

/// The timing of a task, and its traffic.
public struct TaskMetrics: Sendable, Hashable {
    /// Each request that was sent, or was about to be: the first, then redirects and retries in their order.
    public var attempts: [Attempt] = []

    /// From the first ``SessionTask/resume()`` to the result.
    ///
    /// It is the sum of all attempts and, if the task ended while it waited for another one, that wait.
    public var total: Duration = .zero

    /// How many redirects were followed.
    public var redirects = 0

    /// Creates empty metrics.
    public init() {}

    /// One request of a task.
    ///
    /// Its phases follow one another without gaps, in this order. A skipped phase has no duration; the phase in which
    /// an attempt failed lasts until the failure.
    public struct Attempt: Sendable, Hashable {
        /// The reason for this request.
        public enum Reason: String, Sendable, Hashable {
            /// The task's first request.
            case first
            /// The previous one was redirected.
            case redirect
            /// The previous one failed or had a retryable response.
            case retry
        }

        /// The reason for this request.
        public var reason = Reason.first
        /// Waiting to be admitted and, for a retry, for the delay.
        public var queue: Duration = .zero
        /// Looking the host's name up.
        public var lookup: Duration = .zero
        /// Connecting.
        public var connect: Duration = .zero
        /// The TLS handshake.
        public var tls: Duration = .zero
        /// Sending the request with its body.
        public var send: Duration = .zero
        /// From the request's last byte to the response's first.
        public var wait: Duration = .zero
        /// From the response's first byte to its last, pauses included.
        public var receive: Duration = .zero

        /// Bytes sent, header and body, without what TLS and HTTP/2 add or save.
        public var bytesSent: Int64 = 0
        /// Bytes received, header and body as it came, without what TLS and HTTP/2 add or save.
        public var bytesReceived: Int64 = 0
        /// Whether it used an existing connection.
        public var isReused = false
        /// The numeric address of the peer, which is the proxy if there is one; empty without a connection.
        public var remoteAddress = ""
        /// The peer's port, or 0.
        public var remotePort = 0
        /// The version of HTTP, such as "1.1" or "2"; empty without a response.
        public var httpVersion = ""
        /// The status of the response, or 0.
        public var status = 0

        /// The sum of all phases.
        public var total: Duration { queue + lookup + connect + tls + send + wait + receive }

        /// Creates empty metrics.
        public init() {}
    }
}

/// Where the time of a task went, and what went over the wire for it.
public struct TaskMetrics: Sendable, Hashable {
    /// Each request that was sent, or was about to be: the first, then redirects and retries in their order.
    public var attempts: [Attempt] = []

    /// From the first ``SessionTask/resume()`` to the result.
    ///
    /// It is what the attempts took together and, when the task ended while it waited for another, that wait.
    public var total: Duration = .zero

    /// How many redirects were followed.
    public var redirects = 0

    /// Nothing was done yet.
    public init() {}

    /// One request of a task.
    ///
    /// Its times follow one another without a gap, in the order they stand here. What did not happen took no time; what
    /// the attempt was doing when it failed took until then.
    public struct Attempt: Sendable, Hashable {
        /// Why there was this request.
        public enum Reason: String, Sendable, Hashable {
            /// It is the task's first.
            case first
            /// The one before was redirected.
            case redirect
            /// The one before failed, or was not answered as it should.
            case retry
        }

        /// Why there was this request.
        public var reason = Reason.first
        /// Waiting for its turn, and, for a retry, for the time to try again.
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
        /// Whether it went over a connection that was there already.
        public var isReused = false
        /// The numeric address of the peer, which is the proxy if there is one; empty without a connection.
        public var remoteAddress = ""
        /// The peer's port, or 0.
        public var remotePort = 0
        /// The version of HTTP, such as "1.1" or "2"; empty when nothing was answered.
        public var httpVersion = ""
        /// The status of the response, or 0.
        public var status = 0

        /// What the parts took together.
        public var total: Duration { queue + lookup + connect + tls + send + wait + receive }

        /// Nothing was done yet.
        public init() {}
    }
}

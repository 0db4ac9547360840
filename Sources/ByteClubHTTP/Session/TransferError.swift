/// The reason why a task has no response.
///
/// A response of any status is not an error. `description` is one line for people and holds no secret.
public struct TransferError: Error, Sendable, CustomStringConvertible {
    /// The kind of error.
    public var code: Code

    /// A message for people, without the URL.
    public var message: String

    /// The phase in which the task failed.
    public var phase: Phase

    /// libcurl's result code, or 0.
    public var curlCode: Int32

    /// The system's error number, or 0.
    public var errno: Int32

    /// Whether the same request may succeed later and repeating it is harmless.
    public var isRetryable: Bool

    /// Whether a proxy caused the failure, so that the state of the server is unknown.
    public var isOfProxy = false

    /// The number of the failed attempt, from 1; 0 without one.
    public var attempt: Int

    /// Body bytes handed to the network in that attempt.
    public var bytesSent: Int64

    /// Body bytes received in that attempt.
    public var bytesReceived: Int64

    /// The timing until the failure; empty if the task was never started.
    public var metrics = TaskMetrics()

    /// Data to resume a failed download; nil if it must start over.
    ///
    /// The temporary file is kept as long as the error; see ``ResumeData``.
    public var resumeData: ResumeData?

    /// The address without user, query and fragment; empty when the request had none.
    public var url: String

    /// The error thrown by user code, if that is the cause: a ``RequestAdapter`` or an ``Authenticator``.
    ///
    /// ``description`` omits its text, which may contain secrets.
    public var underlying: (any Error)?

    /// The rejected response with its body, if there was one; see ``ResponseValidation`` and ``Authentication``.
    public var rejected: TaskResult?

    /// Creates an error without a transfer.
    ///
    /// - Parameters:
    ///   - code: The kind of error.
    ///   - message: A message of one line for people.
    ///   - phase: The phase in which the task failed.
    ///   - url: The address without secrets.
    public init(_ code: Code, _ message: String, phase: Phase = .queue, url: String = "") {
        self.code = code
        self.message = message
        self.phase = phase
        self.url = url
        curlCode = 0
        errno = 0
        isRetryable = false
        attempt = 0
        bytesSent = 0
        bytesReceived = 0
    }

    /// The message and the address, in one line.
    public var description: String { url.isEmpty ? message : "\(message) (\(url))" }
}

extension TransferError {
    /// The kind of error.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case cancelled, timedOut, cannotResolveHost, cannotConnect, connectionLost, tls, tooManyRedirects
            case insecureRedirect, fileChanged, fileUnreadable, cannotWriteFile, bodyTooLarge, badRequest
            case sessionInvalid, protocolViolation, libraryMissing, resumeDataUnusable, other
            case adapterFailed, authenticationFailed, unacceptableResponse
            case badConfiguration, bodyFailed, notStored, proxyRefused
            case daemonUnavailable, identifierInUse, unknownTask
        }

        private let kind: Kind

        private init(kind: Kind) { self.kind = kind }

        /// ``SessionTask/cancel()`` was called, or the surrounding Swift task was cancelled.
        public static let cancelled = Code(kind: .cancelled)
        /// Connecting took too long, nothing moved for too long, or the time for the whole task is over; or the daemon of
        /// background transfers does not answer.
        public static let timedOut = Code(kind: .timedOut)
        /// The host has no address.
        public static let cannotResolveHost = Code(kind: .cannotResolveHost)
        /// No connection could be made.
        public static let cannotConnect = Code(kind: .cannotConnect)
        /// The connection ended before the response was whole.
        public static let connectionLost = Code(kind: .connectionLost)
        /// The TLS handshake failed, or the certificate is not trusted.
        public static let tls = Code(kind: .tls)
        /// More than 20 redirects.
        public static let tooManyRedirects = Code(kind: .tooManyRedirects)
        /// A redirect from https to http, which is never followed.
        public static let insecureRedirect = Code(kind: .insecureRedirect)
        /// The file to upload changed while it was sent.
        public static let fileChanged = Code(kind: .fileChanged)
        /// The file to upload cannot be read, or is not a regular file.
        public static let fileUnreadable = Code(kind: .fileUnreadable)
        /// The file to download to cannot be written, for example because the disk is full.
        public static let cannotWriteFile = Code(kind: .cannotWriteFile)
        /// The response is larger than ``TaskOptions/maximumResponseBytes``.
        public static let bodyTooLarge = Code(kind: .bodyTooLarge)
        /// The request cannot be sent as it is; nothing was sent.
        public static let badRequest = Code(kind: .badRequest)
        /// The session is, or is being, invalidated.
        public static let sessionInvalid = Code(kind: .sessionInvalid)
        /// The server's response violates HTTP.
        public static let protocolViolation = Code(kind: .protocolViolation)
        /// libcurl is not installed, or not usable.
        public static let libraryMissing = Code(kind: .libraryMissing)
        /// Stored resume data are truncated, damaged or of another version.
        public static let resumeDataUnusable = Code(kind: .resumeDataUnusable)
        /// A ``RequestAdapter`` threw; see ``TransferError/underlying``.
        public static let adapterFailed = Code(kind: .adapterFailed)
        /// The server accepts no credential: an ``Authenticator`` threw, or renewed too often.
        public static let authenticationFailed = Code(kind: .authenticationFailed)
        /// The ``ResponseValidation`` rejected the response; see ``TransferError/rejected``.
        public static let unacceptableResponse = Code(kind: .unacceptableResponse)
        /// The session's settings contradict each other, or cannot be used.
        public static let badConfiguration = Code(kind: .badConfiguration)
        /// The body's stream failed or ended early, or would have to be sent a second time.
        public static let bodyFailed = Code(kind: .bodyFailed)
        /// The cache has no response, and ``CachePolicy/storedOnly`` or `only-if-cached` forbids asking the server.
        public static let notStored = Code(kind: .notStored)
        /// The proxy refused to connect to the server, for example because it requires authentication.
        public static let proxyRefused = Code(kind: .proxyRefused)
        /// The daemon of background transfers cannot be started or reached, or has another version.
        public static let daemonUnavailable = Code(kind: .daemonUnavailable)
        /// Another ``BackgroundSession`` has the identifier.
        public static let identifierInUse = Code(kind: .identifierInUse)
        /// There is no background task of that name.
        public static let unknownTask = Code(kind: .unknownTask)
        /// Anything else; see ``TransferError/curlCode``.
        public static let other = Code(kind: .other)

        /// Creates a code from its ``description``; nil for an unknown name.
        init?(named name: String) {
            guard let kind = Kind(rawValue: name) else { return nil }
            self.init(kind: kind)
        }

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// The phase of a task.
    public enum Phase: String, Sendable, Hashable {
        /// Queued, or not started.
        case queue
        /// Looking the host's name up.
        case resolve
        /// Connecting.
        case connect
        /// In the TLS handshake.
        case tls
        /// Sending the request.
        case send
        /// Waiting for the response.
        case wait
        /// Receiving the response.
        case receive
        /// Reading or writing a local file.
        case file
    }
}

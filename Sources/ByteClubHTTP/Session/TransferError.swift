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
    public var curlCode: Int32 = 0

    /// The system's error number, or 0.
    public var errno: Int32 = 0

    /// Whether the same request may succeed later and repeating it is harmless.
    public var isRetryable = false

    /// Whether a proxy caused the failure, so that the state of the server is unknown.
    public var isOfProxy = false

    /// The number of the failed attempt, from 1; 0 without one.
    public var attempt = 0

    /// Body bytes handed to the network in that attempt.
    public var bytesSent: Int64 = 0

    /// Body bytes received in that attempt.
    public var bytesReceived: Int64 = 0

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
    public var rejected: TaskResult? {
        get { rejection?.result }
        set { rejection = newValue.map { Rejection(result: $0) } }
    }

    /// An object, since most errors have none, and each would be as large as a result.
    private var rejection: Rejection?

    private final class Rejection: Sendable {
        let result: TaskResult

        init(result: TaskResult) { self.result = result }
    }

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
    }

    /// The message and the address, in one line.
    public var description: String { url.isEmpty ? message : "\(message) (\(url))" }
}

extension TransferError {
    /// The kind of error.
    public enum Code: String, Sendable, Hashable, CustomStringConvertible {
        /// ``SessionTask/cancel()`` was called, or the surrounding Swift task was cancelled.
        case cancelled
        /// Connecting took too long, nothing moved for too long, or the time for the whole task is over; or the daemon of
        /// background transfers does not answer.
        case timedOut
        /// The host has no address.
        case cannotResolveHost
        /// No connection could be made.
        case cannotConnect
        /// The connection ended before the response was whole.
        case connectionLost
        /// The task must not use the present network: see ``SessionConfiguration/allowsMetered``.
        case networkNotAllowed
        /// The TLS handshake failed, or the certificate is not trusted.
        case tls
        /// More than 20 redirects.
        case tooManyRedirects
        /// A redirect from https to http, which is never followed.
        case insecureRedirect
        /// The file to upload changed while it was sent.
        case fileChanged
        /// The file to upload cannot be read, or is not a regular file.
        case fileUnreadable
        /// The file to download to cannot be written, for example because the disk is full.
        case cannotWriteFile
        /// The response is larger than ``TaskOptions/maximumResponseBytes``.
        case bodyTooLarge
        /// The request cannot be sent as it is; nothing was sent.
        case badRequest
        /// The session is, or is being, invalidated.
        case sessionInvalid
        /// The server's response violates HTTP.
        case protocolViolation
        /// libcurl is not installed, or not usable.
        case libraryMissing
        /// Stored resume data are truncated, damaged or of another version.
        case resumeDataUnusable
        /// A ``RequestAdapter`` threw; see ``TransferError/underlying``.
        case adapterFailed
        /// There is no credential to send: an ``Authenticator`` threw, or renewed too often, or a
        /// ``PasswordCredential`` cannot be sent by the scheme.
        case authenticationFailed
        /// The ``ResponseValidation`` rejected the response; see ``TransferError/rejected``.
        case unacceptableResponse
        /// The session's settings contradict each other, or cannot be used.
        case badConfiguration
        /// The body's stream failed or ended early, or would have to be sent a second time.
        case bodyFailed
        /// The cache has no response, and ``CachePolicy/storedOnly`` or `only-if-cached` forbids asking the server.
        case notStored
        /// The proxy refused to connect to the server, for example because it requires authentication.
        case proxyRefused
        /// The daemon of background transfers cannot be started or reached, or has another version.
        case daemonUnavailable
        /// Another ``BackgroundSession`` has the identifier.
        case identifierInUse
        /// There is no background task of that name.
        case unknownTask
        /// Anything else; see ``TransferError/curlCode``.
        case other

        /// The code's name.
        public var description: String { rawValue }
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

/// Why a task brought no response.
///
/// A response of any status is not an error. `description` is one line for people and holds no secret.
public struct TransferError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public var code: Code

    /// What went wrong, for people, without the address.
    public var message: String

    /// What the task was doing.
    public var phase: Phase

    /// libcurl's result code, or 0.
    public var curlCode: Int32

    /// The system's error number, or 0.
    public var errno: Int32

    /// Whether the same request may succeed later and repeating it is harmless.
    public var isRetryable: Bool

    /// Whether a proxy stands in the way, so that nothing is known of the server.
    public var isOfProxy = false

    /// Which attempt failed, from 1; 0 when there was none.
    public var attempt: Int

    /// Body bytes handed to the network in that attempt.
    public var bytesSent: Int64

    /// Body bytes received in that attempt.
    public var bytesReceived: Int64

    /// Where the time went until the failure; empty when the task was never started.
    public var metrics = TaskMetrics()

    /// What a failed download can be continued with; nil when it must start over.
    ///
    /// As long as the error is kept, so is the temporary file; see ``ResumeData``.
    public var resumeData: ResumeData?

    /// The address without user, query and fragment; empty when the request had none.
    public var url: String

    /// What user code threw, where that is the reason: a ``RequestAdapter`` or an ``Authenticator``.
    ///
    /// Its text is no part of ``description``, as it may hold secrets.
    public var underlying: (any Error)?

    /// The response that was not accepted, with its body, where there was one; see ``ResponseValidation`` and
    /// ``Authentication``.
    public var rejected: TaskResult?

    /// An error with no transfer behind it yet.
    ///
    /// - Parameters:
    ///   - code: What went wrong.
    ///   - message: The same for people, one line.
    ///   - phase: What the task was doing.
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

public import HTTPTypes

/// How requests are adapted, redirected, retried and validated, for a whole session (``SessionConfiguration/policy``)
/// or one task (``TaskOptions/policy``).
///
/// A task's settings override the session's, except that adapters accumulate, the session's first. This code does not
/// run on the session's thread, and its task occupies no slot of its host meanwhile: other tasks continue. The task may
/// be suspended, cancelled or time out in the meantime, which cancels the surrounding Swift task.
public struct RequestPolicy: Sendable {
    /// Change the request in order before it is sent.
    public var adapters: [any RequestAdapter] = []

    /// Decides about every redirect that ``TaskOptions/redirects`` and the rules allow; nil to follow.
    ///
    /// It replaces the ``SessionDelegate``'s decision. With either of them the body of a redirecting response is kept,
    /// since it may become the result; otherwise it is discarded.
    public var redirectHandler: (@Sendable (Redirect) async -> RedirectDecision)?

    /// Decides about every attempt that failed or had a status of 400 and above, while another attempt is allowed; nil
    /// to follow the ``RetryPolicy``.
    ///
    /// It is not called after a cancel, a timeout of the whole task or of a silent server, or the last allowed attempt.
    public var retryHandler: (@Sendable (FailedAttempt) async -> RetryDecision)?

    /// Decides about a challenge of a server (401) or a proxy (407) by Basic or Digest; nil to give no answer.
    ///
    /// It replaces the ``SessionDelegate``'s decision. While it runs, further tasks that are challenged for the same
    /// ``ProtectionSpace`` wait for its decision, which applies to all of them; the surrounding Swift task is cancelled
    /// when the last of them has ended. It is asked again when the credential is rejected, at most five times for a
    /// task. Of several challenges the strongest comes first: Digest with SHA-256, Digest with MD5, then Basic.
    ///
    /// An answered request is sent again with its body, whatever its method, since the server did not execute it. That
    /// counts as an attempt, but also happens if retries are disabled. A streamed body that was partly sent fails the
    /// task with ``TransferError/Code/bodyFailed``; the session keeps the credential. A request with its own
    /// `Authorization` field, or with an ``Authentication``, is not asked about.
    public var challengeHandler: (@Sendable (AuthenticationChallenge) async -> ChallengeDecision)?

    /// Which final responses are errors; nil for none, as in URLSession.
    public var validation: ResponseValidation?

    var keeper: (any CredentialKeeper)?

    /// Creates a policy that changes nothing.
    public init() {}

    /// Adds a credential to every request, and renews it when a server rejects it.
    ///
    /// - Parameter authentication: The credential; share one among all sessions and tasks that use it.
    public mutating func authenticate(with authentication: Authentication<some Authenticator>) {
        keeper = authentication
    }

    /// Whether requests are changed before they are sent.
    var changesRequests: Bool { !adapters.isEmpty || keeper != nil }

    /// Combines a session's policy with a task's.
    func overridden(by task: RequestPolicy) -> RequestPolicy {
        var policy = self
        policy.adapters += task.adapters
        policy.redirectHandler = task.redirectHandler ?? redirectHandler
        policy.retryHandler = task.retryHandler ?? retryHandler
        policy.challengeHandler = task.challengeHandler ?? challengeHandler
        policy.validation = task.validation ?? validation
        policy.keeper = task.keeper ?? keeper
        return policy
    }

    /// Applies the adapters, then the credential, to the task's own request.
    ///
    /// - Throws: ``TransferError/Code/adapterFailed``, `authenticationFailed`, or `badRequest` if the result cannot be
    ///   sent.
    func adapt(_ head: RequestHead, attempt: Int) async throws(TransferError) -> (RequestHead, credential: UInt64?) {
        var request = head.request
        do {
            for adapter in adapters { request = try await adapter.adapt(request, attempt: attempt) }
        } catch let error as TransferError {
            throw error
        } catch {
            throw TransferError(.adapterFailed, "a request adapter failed", url: head.url.redacted).caused(by: error)
        }
        return try await authenticated(try head.replaced(by: request))
    }

    /// Adds the newest credential to a request.
    func authenticated(_ head: RequestHead) async throws(TransferError) -> (RequestHead, credential: UInt64?) {
        guard let keeper else { return (head, nil) }
        let (request, credential): (HTTPRequest, UInt64)
        do { (request, credential) = try await keeper.apply(to: head.request) } catch {
            throw TransferError(.authenticationFailed, "there is no credential to use", url: head.url.redacted)
                .caused(by: error)
        }
        return (try head.replaced(by: request), credential)
    }
}

extension TransferError {
    /// This error with its cause, or the cause itself if it has the same code.
    func caused(by cause: any Error) -> TransferError {
        if let own = cause as? TransferError, own.code == code { return own }
        var error = self
        error.underlying = cause
        return error
    }
}

/// Changes requests before they are sent, for example signs them.
///
/// An adapter gets the request as it would be sent, including the session's fields, before the first attempt and each
/// retry. A redirected request inherits these fields within the rules for other origins, and a retry after a redirect
/// repeats the redirected request; adapters see neither. So an adapter's secret cannot reach an address that a server
/// chose.
public protocol RequestAdapter: Sendable {
    /// Changes one request.
    ///
    /// - Parameters:
    ///   - request: The task's request as earlier adapters left it. The body cannot be changed here.
    ///   - attempt: The attempt, from 1.
    /// - Returns: The request to send.
    /// - Throws: Anything; the task then fails with ``TransferError/Code/adapterFailed`` and that error in
    ///   ``TransferError/underlying``, or with the error itself where it is a ``TransferError``.
    func adapt(_ request: HTTPRequest, attempt: Int) async throws -> HTTPRequest
}

/// A redirect with the request that would follow it.
public struct Redirect: Sendable {
    /// The redirecting response.
    public var response: HTTPResponse

    /// The next request, with its method, and for another origin without the fields that must not be sent there.
    public var request: HTTPRequest

    /// The number of the redirect within the task, from 1 to 20.
    public var number: Int

    /// Whether it leads to another scheme, host or port.
    public var leavesOrigin: Bool
}

/// What to do with a ``Redirect``.
public enum RedirectDecision: Sendable {
    /// Make the proposed request.
    case follow

    /// Make this request instead, a changed copy of the proposed one.
    ///
    /// The task's body is sent if the proposed request would have sent it, or if the method equals the redirected
    /// request's; GET and HEAD carry none. To another origin than the redirecting one, only public fields and fields
    /// that differ from the proposed request's are sent. A redirect from https to http is always refused.
    case send(HTTPRequest)

    /// Make no further request: the redirecting response with its body is the result.
    case stop
}

import HTTPTypes

/// How requests are changed before they are sent, followed, tried again and judged: for a whole session
/// (``SessionConfiguration/policy``) or one task (``TaskOptions/policy``).
///
/// What a task sets wins over what its session sets; only the adapters add up, the session's first. None of this code
/// runs on the session's thread, and while it runs its task holds no turn of its host: other tasks go on, and the task
/// may be suspended, cancelled or run out of its time meanwhile, upon which the surrounding Swift task is cancelled.
public struct RequestPolicy: Sendable {
    /// Change the request, one after the other, before it is sent.
    public var adapters: [any RequestAdapter] = []

    /// Asked about every redirect that ``TaskOptions/redirects`` lets through and that breaks no rule; nil to follow.
    ///
    /// Before the ``SessionDelegate``, which is not asked where this is set. With one of them, the body of a redirecting
    /// response counts like any other, since it may become the result; without, it is thrown away.
    public var redirectHandler: (@Sendable (Redirect) async -> RedirectDecision)?

    /// Asked about every attempt that failed or brought a status of 400 and above while another one is allowed; nil to
    /// go by the ``RetryPolicy`` alone.
    ///
    /// It is not asked after a cancel, a timeout of the whole task or of a silent server, or the last allowed attempt.
    public var retryHandler: (@Sendable (FailedAttempt) async -> RetryDecision)?

    /// Which final responses are errors; nil for none, as in URLSession.
    public var validation: ResponseValidation?

    var keeper: (any CredentialKeeper)?

    /// Changes nothing.
    public init() {}

    /// Puts a credential on every request, and renews it when a server refuses it.
    ///
    /// - Parameter authentication: Who has the credential; share one among all sessions and tasks that use it.
    public mutating func authenticate(with authentication: Authentication<some Authenticator>) {
        keeper = authentication
    }

    /// Whether a request has to be changed before it is sent.
    var changesRequests: Bool { !adapters.isEmpty || keeper != nil }

    /// This policy of a session, with what a task does differently.
    func overridden(by task: RequestPolicy) -> RequestPolicy {
        var policy = self
        policy.adapters += task.adapters
        policy.redirectHandler = task.redirectHandler ?? redirectHandler
        policy.retryHandler = task.retryHandler ?? retryHandler
        policy.validation = task.validation ?? validation
        policy.keeper = task.keeper ?? keeper
        return policy
    }

    /// Changes a head of the task's own request: the adapters, then the credential.
    ///
    /// - Throws: ``TransferError/Code/adapterFailed``, `authenticationFailed`, or `badRequest` for what cannot be sent.
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

    /// Puts the newest credential on a request.
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
    /// This error with its cause, or the cause itself where it says the same.
    func caused(by cause: any Error) -> TransferError {
        if let own = cause as? TransferError, own.code == code { return own }
        var error = self
        error.underlying = cause
        return error
    }
}

public import HTTPTypes

/// Adds credentials to requests and renews them; ``Authentication`` decides when.
public protocol Authenticator: Sendable {
    /// The credential, for example an access token with its refresh token.
    associatedtype Credential: Sendable

    /// Adds a credential to a request.
    ///
    /// It may be called again for a request with an older credential, so it should set fields rather than append them.
    ///
    /// - Parameters:
    ///   - credential: The one to use.
    ///   - request: The request as it would be sent otherwise.
    /// - Throws: Anything; the task fails with ``TransferError/Code/authenticationFailed``.
    func apply(_ credential: Credential, to request: inout HTTPRequest) async throws

    /// Gets a new credential.
    ///
    /// One ``Authentication`` never runs two renewals at the same time and never cancels one, so a single-use token is
    /// not lost. The renewal's own requests must not use the same ``Authentication``: they would wait for themselves.
    ///
    /// - Parameter credential: The rejected or expired credential.
    /// - Returns: The new credential.
    /// - Throws: Anything; all tasks that wait fail with ``TransferError/Code/authenticationFailed`` and this error in
    ///   ``TransferError/underlying``.
    func refresh(_ credential: Credential) async throws -> Credential

    /// Gets a new credential for what the server asked for, such as `Bearer error="invalid_token"` or another scope.
    ///
    /// Unless implemented, it is ``refresh(_:)``, which is not called otherwise. The rules of that apply. Tasks that
    /// wait for the same renewal share it: the challenges are those of the task that was rejected first. When the new
    /// credential is rejected as well, this is called once more for the task, with that rejection; so the server's word
    /// leads to at most two calls for a task. It is not called again if the rejected credential equals the one before,
    /// where ``Credential`` is `Equatable`, or if the ``RefreshWindow`` has no more renewals: the response is the
    /// result then.
    ///
    /// - Parameters:
    ///   - credential: The rejected or expired credential.
    ///   - challenges: The challenges in the rejecting response, of every scheme, as
    ///     ``HTTPTypes/HTTPResponse/challenges(to:)`` reads them: they are untrusted. Their
    ///     ``AuthenticationChallenge/previousFailureCount`` is 1, and 2 when the task's second credential is rejected.
    ///     Empty if the credential has expired, or the response has no `WWW-Authenticate`.
    /// - Returns: The new credential.
    /// - Throws: As ``refresh(_:)``.
    func refresh(_ credential: Credential, for challenges: [AuthenticationChallenge]) async throws -> Credential

    /// Whether a credential has expired, so that it is renewed before the request is sent.
    ///
    /// - Parameter credential: The current credential.
    /// - Returns: False unless implemented.
    func isExpired(_ credential: Credential) -> Bool
}

extension Authenticator {
    /// Gets a new credential, whatever the server asked for.
    ///
    /// - Parameters:
    ///   - credential: The rejected or expired credential.
    ///   - challenges: Not used.
    /// - Returns: The new credential.
    /// - Throws: As ``refresh(_:)``.
    public func refresh(_ credential: Credential, for challenges: [AuthenticationChallenge]) async throws -> Credential
    {
        try await refresh(credential)
    }

    /// Leaves that to the server.
    ///
    /// - Parameter credential: The current credential.
    /// - Returns: False.
    public func isExpired(_ credential: Credential) -> Bool { false }
}

/// A limit on renewals, so that a server that rejects every credential causes no endless loop.
public struct RefreshWindow: Sendable, Hashable {
    /// The length of the window: 30 seconds.
    public var interval: Duration

    /// The number of renewals within the window, including failed ones: 5.
    public var maximumRefreshes: Int

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - interval: The length of the window.
    ///   - maximumRefreshes: The number of renewals within the window.
    public init(interval: Duration = .seconds(30), maximumRefreshes: Int = 5) {
        self.interval = interval
        self.maximumRefreshes = maximumRefreshes
    }
}

/// The recent renewals.
struct RecentRefreshes {
    let window: RefreshWindow
    private var begun: [Moment] = []

    init(_ window: RefreshWindow) { self.window = window }

    /// Whether a renewal may start now.
    mutating func hasRoom(at now: Moment) -> Bool {
        begun.removeAll { $0.advanced(by: window.interval) <= now }
        return begun.count < window.maximumRefreshes
    }

    /// Records a renewal that starts now; false if the limit is reached.
    mutating func begin(at now: Moment) -> Bool {
        guard hasRoom(at: now) else { return false }
        begun.append(now)
        return true
    }
}

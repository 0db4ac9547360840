public import HTTPTypes

/// Knows how requests carry a credential, and how one is renewed; ``Authentication`` decides when.
public protocol Authenticator: Sendable {
    /// What a request is authorised by, for example an access token with the token that renews it.
    associatedtype Credential: Sendable

    /// Puts a credential on a request.
    ///
    /// It may be called again for a request that bears an older one: set fields, do not append.
    ///
    /// - Parameters:
    ///   - credential: The one to use.
    ///   - request: The request as it would be sent otherwise.
    /// - Throws: Anything; the task fails with ``TransferError/Code/authenticationFailed``.
    func apply(_ credential: Credential, to request: inout HTTPRequest) async throws

    /// Gets a new credential.
    ///
    /// Never called twice at the same time by one ``Authentication``, and never cancelled, so that a token that can be
    /// used once is not lost. Its own requests must not be authenticated by the same ``Authentication``: they would wait
    /// for themselves.
    ///
    /// - Parameter credential: The one that was refused, or expired.
    /// - Returns: The one to use from now on.
    /// - Throws: Anything; all tasks that wait fail with ``TransferError/Code/authenticationFailed`` and this error in
    ///   ``TransferError/underlying``.
    func refresh(_ credential: Credential) async throws -> Credential

    /// Whether a credential is known to be refused, so that it is renewed before a request is sent with it.
    ///
    /// - Parameter credential: The present one.
    /// - Returns: False unless implemented.
    func isExpired(_ credential: Credential) -> Bool
}

extension Authenticator {
    /// Lets the server tell.
    ///
    /// - Parameter credential: The present one.
    /// - Returns: False.
    public func isExpired(_ credential: Credential) -> Bool { false }
}

/// How often a credential may be renewed, so that a server that accepts none is not asked without end.
public struct RefreshWindow: Sendable, Hashable {
    /// The time looked back at: 30 seconds.
    public var interval: Duration

    /// How many renewals may begin within it, those that failed included: 5.
    public var maximumRefreshes: Int

    /// A window.
    ///
    /// - Parameters:
    ///   - interval: The time looked back at.
    ///   - maximumRefreshes: How many renewals may begin within it.
    public init(interval: Duration = .seconds(30), maximumRefreshes: Int = 5) {
        self.interval = interval
        self.maximumRefreshes = maximumRefreshes
    }
}

/// The renewals of the last while.
struct RecentRefreshes {
    let window: RefreshWindow
    private var begun: [Moment] = []

    init(_ window: RefreshWindow) { self.window = window }

    /// Notes a renewal that begins now; false if it must not.
    mutating func begin(at now: Moment) -> Bool {
        begun.removeAll { $0.advanced(by: window.interval) <= now }
        guard begun.count < window.maximumRefreshes else { return false }
        begun.append(now)
        return true
    }
}

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

    /// Whether a credential has expired, so that it is renewed before the request is sent.
    ///
    /// - Parameter credential: The current credential.
    /// - Returns: False unless implemented.
    func isExpired(_ credential: Credential) -> Bool
}

extension Authenticator {
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

    /// Records a renewal that starts now; false if the limit is reached.
    mutating func begin(at now: Moment) -> Bool {
        begun.removeAll { $0.advanced(by: window.interval) <= now }
        guard begun.count < window.maximumRefreshes else { return false }
        begun.append(now)
        return true
    }
}

public import HTTPTypes
public import Logging

/// What a ``Session`` does unless a request or its ``TaskOptions`` say otherwise.
public struct SessionConfiguration: Sendable {
    /// The usual settings.
    public static var `default`: SessionConfiguration { SessionConfiguration() }

    /// The usual settings, for a session that must leave no trace.
    ///
    /// Nothing but the files that downloads name is written to disk, and no connection, cookie or TLS state outlives
    /// the session. Today ``default`` keeps nothing either; a default session may once do so, this one never will.
    public static var ephemeral: SessionConfiguration { SessionConfiguration() }

    /// Fields added to every request, for example one `Authorization` for all.
    ///
    /// A request's own field wins over the session's of the same name, compared without case. None of these but the
    /// harmless ones (`User-Agent`, `Accept` and its kin) follows a redirect to another origin.
    public var additionalHeaders: HTTPFields = [:]

    /// How long a task may go without a byte moving in either direction: 60 seconds.
    ///
    /// The clock does not run while the task waits for its turn, is suspended, or holds itself back to its rate limit.
    /// However long this is, a server whose machine is gone without a word is noticed about a minute after its last one,
    /// while an answer is awaited: the system asks for signs of life.
    public var timeoutForRequest: Duration = .seconds(60)

    /// How long a task may take in all, from its first ``SessionTask/resume()``, waiting and retries included: 7 days.
    public var timeoutForResource: Duration = .seconds(7 * 86400)

    /// How long name lookup, connecting and the TLS handshake may take together: 15 seconds.
    public var connectTimeout: Duration = .seconds(15)

    /// How many tasks may be under way to one scheme, host and port: 6.
    ///
    /// With 1 they run strictly one after another, also where HTTP/2 could interleave them.
    public var maximumTasksPerHost = 6

    /// How many tasks may be under way in all: 64.
    public var maximumTasks = 64

    /// Which failures are tried again, and how patiently.
    public var retryPolicy: RetryPolicy = .standard

    /// A PEM file of authorities to trust instead of the system's, or nil.
    ///
    /// Verification is never off: where no key is pinned, a certificate must be vouched for, and for the host's name.
    public var certificateAuthorityFile: String?

    /// The public keys one of which every server must have that is spoken with over https; empty for any key.
    ///
    /// Such a key is the whole of the trust: nobody has to vouch for the certificate, and its names and dates are not
    /// looked at. A server with another key gets nothing of a request; the task fails with `tls`. It takes TLS 1.3.
    public var pinnedKeys: Set<PublicKeyPin> = []

    /// Where the session tells of retries (info) and of every attempt (debug); nothing secret is written.
    public var logger: Logger?

    /// The usual settings.
    public init() {}
}

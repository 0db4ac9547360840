public import HTTPTypes
public import Logging

/// The settings of a ``Session``, which a request or its ``TaskOptions`` may override.
public struct SessionConfiguration: Sendable {
    /// The default settings.
    public static var `default`: SessionConfiguration { SessionConfiguration() }

    /// The default settings for a session that leaves no trace.
    ///
    /// Only download targets are written to disk, and no connection, cookie or TLS state outlives the session. A
    /// ``cookieStore`` and a ``cache`` must be in memory: otherwise the session does not start.
    public static var ephemeral: SessionConfiguration {
        var configuration = SessionConfiguration()
        configuration.isEphemeral = true
        return configuration
    }

    /// Fields added to every request, for example one `Authorization` for all.
    ///
    /// A request's own field overrides the session's field of the same name, ignoring case. Only harmless fields (such
    /// as `User-Agent` and `Accept`) follow a redirect to another origin.
    public var additionalHeaders: HTTPFields = [:]

    /// How long a task may wait without a byte in either direction: 60 seconds.
    ///
    /// The timer does not run while the task is queued, suspended, or held back by its rate limit. However long it is,
    /// TCP keep-alive detects a server whose machine has died after about a minute without a response.
    public var timeoutForRequest: Duration = .seconds(60)

    /// The maximum duration of a task from its first ``SessionTask/resume()``, waiting and retries included: 7 days.
    public var timeoutForResource: Duration = .seconds(7 * 86400)

    /// Whether a task that cannot reach its host for lack of a network waits for one instead of failing.
    ///
    /// That is so if there is no route to the host or its proxy, if the network is down, or if a name cannot be looked
    /// up while there is no default route. Then ``TaskEvent/waitingForConnectivity`` is reported, and the request is
    /// sent again as soon as the system announces a change of the network, otherwise after growing delays of up to a
    /// minute, until ``timeoutForResource``. These attempts are no retries: no policy limits them or is asked about
    /// them, and no metrics keep them. With a network, a refused connection or an unknown name fails as always.
    public var waitsForConnectivity = false

    /// Whether tasks may use a metered network, such as a mobile one: see ``NetworkConditions/isMetered``.
    ///
    /// On a network that is not allowed, a task with ``waitsForConnectivity`` waits until it is, reports
    /// ``TaskEvent/waitingForConnectivity``, and otherwise fails with ``TransferError/Code/networkNotAllowed``. A task
    /// under way is interrupted when the network becomes one that is not allowed: see <doc:Connections>.
    public var allowsMetered = true

    /// Whether tasks may use a constrained network: see ``NetworkConditions/isConstrained`` and ``allowsMetered``.
    public var allowsConstrained = true

    /// Whether tasks may be delayed to a convenient time: they wait for mains power and a network that is not metered.
    ///
    /// They always wait, whatever ``waitsForConnectivity`` is, until ``timeoutForResource``. A task under way is not
    /// interrupted when the machine changes to its battery.
    public var isDiscretionary = false

    /// How long name lookup, connecting and the TLS handshake may take together: 15 seconds.
    public var connectTimeout: Duration = .seconds(15)

    /// The maximum number of running tasks per scheme, host and port: 6.
    ///
    /// With 1 they run strictly one after another, also where HTTP/2 could interleave them.
    public var maximumTasksPerHost = 6

    /// The maximum number of running tasks: 64.
    public var maximumTasks = 64

    /// The maximum rate of all tasks together in each direction, in bytes per second; nil for no limit.
    ///
    /// It applies in addition to ``TaskOptions/rateLimit``; ``Session/setRateLimit(_:)`` changes it. Values below 1
    /// count as 1.
    public var rateLimit: Int?

    /// Which failures are retried, and how often.
    public var retryPolicy: RetryPolicy = .standard

    /// How requests are adapted, redirected, retried and validated beyond that.
    public var policy = RequestPolicy()

    /// Fields that hold no secret although their names are not known as harmless.
    ///
    /// They follow a redirect to another origin, ``SessionTask/curlCommand`` shows them, and the cache ignores them
    /// when it compares requests.
    public var publicFields: Set<HTTPField.Name> = []

    /// Observers of the session's tasks; released when the session has ended.
    public var eventMonitors: [any EventMonitor] = []

    /// A PEM file of authorities to trust instead of the system's, or nil.
    ///
    /// Verification cannot be disabled: unless a key is pinned, a trusted authority must have signed the certificate
    /// for the host's name.
    public var certificateAuthorityFile: String?

    /// A folder of PEM files of authorities to trust instead of the system's, or nil; the files are named as
    /// `openssl rehash` names them.
    ///
    /// If ``certificateAuthorityFile`` is set as well, both are trusted.
    public var certificateAuthorityDirectory: String?

    /// The client certificate for servers that request one; nil for none.
    public var clientCertificate: ClientCertificate?

    /// The minimum version of TLS; with pinned keys it is always 1.3.
    public var minimumTLSVersion = TLSVersion.v12

    /// The version of HTTP.
    public var httpVersion = HTTPVersionPreference.automatic

    /// The kind of traffic of all connections; see ``TaskOptions/serviceType``.
    public var serviceType = ServiceType.default

    /// The proxy.
    public var proxy = ProxySettings.environment

    /// Addresses that replace name lookup for some hosts.
    public var addressOverrides: [AddressOverride] = []

    /// The path of a Unix socket that every connection is made to, whatever host a request names; nil for TCP.
    ///
    /// For servers on this machine. At most 107 bytes; no proxy is used.
    public var unixSocketPath: String?

    /// Whether data and upload tasks request compressed bodies and decompress them (gzip, deflate, br, zstd).
    ///
    /// Nothing is decompressed if the request has its own `Accept-Encoding` or `Range`, nor for downloads to a file.
    public var decodesContent = true

    /// The cookie store; nil, the default, for no cookies.
    public var cookieStore: CookieStore?

    /// The response cache; nil, the default, for none.
    public var cache: ResponseCache?

    /// The pinned public keys, one of which every https server must have; empty to accept any key.
    ///
    /// A pinned key replaces all other trust: the certificate's issuer, names and dates are not checked. A server with
    /// another key receives no part of a request; the task fails with `tls`. Pinning requires TLS 1.3.
    public var pinnedKeys: Set<PublicKeyPin> = []

    /// Decides whether requests are sent to a server whose certificate was verified; nil, the default, to send them.
    ///
    /// It can only refuse: it is not asked about a server that fails the verification by authorities or ``pinnedKeys``.
    /// No part of a request is sent to a server before it returns true; if it returns false, the tasks fail with
    /// ``TransferError/Code/tls``. A ``clientCertificate`` belongs to the handshake, so it is sent before.
    ///
    /// It is called once for all tasks that wait for the same host, port and certificates, and not on the session's
    /// thread. The session keeps up to 1,024 answers until it ends, and asks again when a server has other certificates, for
    /// example after a renewal, or when a redirect leads to another origin. While it runs, no other task to that origin
    /// starts, and the tasks that wait may be suspended, cancelled or exceed ``timeoutForResource``; when the last of them
    /// has ended, the surrounding Swift task is cancelled. It must not make requests to the same host with the same
    /// session: they would wait for its answer. In the tunnel of a proxy it is asked about the server at the end, not
    /// about the proxy. Background sessions have none.
    ///
    /// The attempt before the question sends nothing and does not count, but its connection may be closed. Every
    /// connection makes a full handshake, without resuming a TLS session. A libcurl that uses OpenSSL is required, as
    /// Debian's does; with another one requests by https fail with ``TransferError/Code/libraryMissing``.
    public var trustEvaluator: (@Sendable (ServerTrust) async -> Bool)?

    /// Logs retries (info) and every attempt (debug), without secrets.
    public var logger: Logger?

    /// The default settings.
    public init() {}

    /// The first delay of a task that waits for a network.
    var connectivityDelay: Duration = .seconds(1)

    /// Where the conditions of the network are read; nil for this machine's.
    var conditionsSource: ConditionsSource?

    /// Runs first on the session's thread, for a test that gives the session a network of its own.
    var threadPreparation: (@Sendable () -> Void)?

    /// Whether no store may be on disk.
    private var isEphemeral = false

    /// The proxies as the environment defined them when the session started, or the error in them.
    private(set) var proxyRules: Result<ProxyRules, TransferError> = .success(
        ProxyRules(http: nil, https: nil, except: []))

    /// The passphrase of the client's key.
    private(set) var keyPassphrase: Passphrase?

    /// The settings as the session uses them: checked, with environment and passphrase read.
    ///
    /// - Throws: ``TransferError/Code/badConfiguration``.
    func resolved() throws(TransferError) -> SessionConfiguration {
        func bad(_ message: String) -> TransferError { TransferError(.badConfiguration, message) }
        if isEphemeral, cookieStore?.file != nil || cache?.folder != nil {
            throw bad("an ephemeral session cannot use a cookie store or cache on disk")
        }
        if let path = unixSocketPath, !(1...107).contains(path.utf8.count) {
            throw bad("the path of a Unix socket has 1 to 107 bytes, not \(path.utf8.count)")
        }
        let paths = [
            certificateAuthorityFile, certificateAuthorityDirectory, unixSocketPath, clientCertificate?.certificateFile,
            clientCertificate?.keyFile,
        ]
        if paths.contains(where: { $0?.utf8.contains(0) == true }) {
            throw bad("the path of a file contains a NUL character")
        }
        var resolved = self
        // An invalid variable fails only the requests that would use it.
        resolved.proxyRules = Result { () throws(TransferError) in try proxy.rules() }
        do {
            resolved.keyPassphrase = try clientCertificate?.passphrase.map { Passphrase(try $0.reveal()) }
        } catch {
            throw bad("the client certificate's passphrase cannot be read: \(error)")
        }
        return resolved
    }
}

public import HTTPTypes
public import Logging

/// What a ``Session`` does unless a request or its ``TaskOptions`` say otherwise.
public struct SessionConfiguration: Sendable {
    /// The usual settings.
    public static var `default`: SessionConfiguration { SessionConfiguration() }

    /// The usual settings, for a session that must leave no trace.
    ///
    /// Nothing but the files that downloads name is written to disk, and no connection, cookie or TLS state outlives
    /// the session. It may have a ``cookieStore`` and a ``cache``, but in memory: with one on disk no session starts.
    public static var ephemeral: SessionConfiguration {
        var configuration = SessionConfiguration()
        configuration.isEphemeral = true
        return configuration
    }

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

    /// The most bytes per second that all tasks together move in each direction; nil for no limit.
    ///
    /// It holds besides ``TaskOptions/rateLimit``; ``Session/setRateLimit(_:)`` changes it. Values below 1 count as 1.
    public var rateLimit: Int?

    /// Which failures are tried again, and how patiently.
    public var retryPolicy: RetryPolicy = .standard

    /// How requests are changed, followed, tried again and judged beyond that.
    public var policy = RequestPolicy()

    /// Fields that hold no secret although their names do not tell: they follow a redirect to another origin, a
    /// ``SessionTask/curlCommand`` shows them, and answers to requests that differ in them are kept as the same one.
    public var publicFields: Set<HTTPField.Name> = []

    /// Who sees what happens to the session's tasks; let go when the session has ended.
    public var eventMonitors: [any EventMonitor] = []

    /// A PEM file of authorities to trust instead of the system's, or nil.
    ///
    /// Verification is never off: where no key is pinned, a certificate must be vouched for, and for the host's name.
    public var certificateAuthorityFile: String?

    /// A folder of PEM files of authorities to trust instead of the system's, or nil; the files are named as
    /// `openssl rehash` names them.
    ///
    /// With ``certificateAuthorityFile`` as well, both are trusted.
    public var certificateAuthorityDirectory: String?

    /// Who the session is to servers that ask for a certificate; nil for nobody.
    public var clientCertificate: ClientCertificate?

    /// The oldest version of TLS that is spoken; where a key is pinned it is 1.3 in any case.
    public var minimumTLSVersion = TLSVersion.v12

    /// Which version of HTTP is spoken.
    public var httpVersion = HTTPVersionPreference.automatic

    /// Which proxy requests go through.
    public var proxy = ProxySettings.environment

    /// Where hosts are that name lookup does not know, or knows elsewhere.
    public var addressOverrides: [AddressOverride] = []

    /// The path of a Unix socket that every connection is made to, whatever host a request names; nil for TCP.
    ///
    /// For servers on this machine. At most 107 bytes; no proxy is used.
    public var unixSocketPath: String?

    /// Whether the bodies of data and upload tasks are asked for compressed, and decompressed (gzip, deflate, br, zstd).
    ///
    /// Nothing is decompressed for a task whose request has an `Accept-Encoding` or `Range` of its own, nor on the way to
    /// a file.
    public var decodesContent = true

    /// Keeps and sends cookies; nil, as it is without being set, for no cookies.
    public var cookieStore: CookieStore?

    /// Keeps answers; nil, as it is without being set, for none.
    public var cache: ResponseCache?

    /// The public keys one of which every server must have that is spoken with over https; empty for any key.
    ///
    /// Such a key is the whole of the trust: nobody has to vouch for the certificate, and its names and dates are not
    /// looked at. A server with another key gets nothing of a request; the task fails with `tls`. It takes TLS 1.3.
    public var pinnedKeys: Set<PublicKeyPin> = []

    /// Where the session tells of retries (info) and of every attempt (debug); nothing secret is written.
    public var logger: Logger?

    /// The usual settings.
    public init() {}

    /// Whether no store may be on disk.
    private var isEphemeral = false

    /// The proxies as they were when the session began, or why there is no telling.
    private(set) var proxyRules: Result<ProxyRules, TransferError> = .success(
        ProxyRules(http: nil, https: nil, except: []))

    /// What the client's key is encrypted with.
    private(set) var keyPassphrase: Passphrase?

    /// The settings as a session uses them: checked, with the environment and the passphrase read.
    ///
    /// - Throws: ``TransferError/Code/badConfiguration``.
    func resolved() throws(TransferError) -> SessionConfiguration {
        if isEphemeral, cookieStore?.file != nil || cache?.folder != nil {
            throw TransferError(.badConfiguration, "an ephemeral session takes no cookie store or cache on disk")
        }
        if let path = unixSocketPath, !(1...107).contains(path.utf8.count) {
            throw TransferError(
                .badConfiguration, "the path of a Unix socket has 1 to 107 bytes, not \(path.utf8.count)")
        }
        let paths = [
            certificateAuthorityFile, certificateAuthorityDirectory, unixSocketPath, clientCertificate?.certificateFile,
            clientCertificate?.keyFile,
        ]
        if paths.contains(where: { $0?.utf8.contains(0) == true }) {
            throw TransferError(.badConfiguration, "the path of a file holds a NUL")
        }
        var resolved = self
        // A wrong variable is the trouble of those requests that would use it.
        do throws(TransferError) { resolved.proxyRules = .success(try proxy.rules()) } catch {
            resolved.proxyRules = .failure(error)
        }
        do {
            resolved.keyPassphrase = try clientCertificate?.passphrase.map { Passphrase(try $0.reveal()) }
        } catch {
            throw TransferError(.badConfiguration, "the client certificate's passphrase cannot be had: \(error)")
        }
        return resolved
    }
}

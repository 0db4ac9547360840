import Glibc
public import HTTPTypes
import Synchronization

/// A session that is started when it is first needed, for programs whose few requests a running daemon can make.
///
/// A GET or HEAD goes over the daemon's ``WarmConnections`` if there are any and the session's settings require nothing
/// that only this program has (such as a proxy, a client certificate or a cache). If that fails in any way, the session
/// makes the request itself. All members may be used from any thread.
public final class WarmSession: Sendable {
    private let configuration: SessionConfiguration
    private let name: String
    private let warm: WarmConnections?
    private let started: Mutex<Session?>

    /// A session that is started already.
    public init(_ session: Session) {
        configuration = .ephemeral
        name = session.name
        warm = nil
        started = Mutex(session)
    }

    /// A session, which is started at once unless it can use the daemon's connections.
    ///
    /// - Parameters:
    ///   - configuration: See ``Session``.
    ///   - name: See ``Session``.
    ///   - warm: The daemon's connections, or nil.
    /// - Throws: As ``Session``.
    public init(
        configuration: SessionConfiguration, name: String, over warm: WarmConnections?
    ) throws(TransferError) {
        self.configuration = configuration
        self.name = name
        self.warm = configuration.isRelayed ? warm : nil
        started = Mutex(self.warm == nil ? try Session(configuration: configuration, name: name) : nil)
    }

    /// The session itself, which this starts if necessary.
    ///
    /// - Throws: As ``Session``.
    public var session: Session {
        get throws(TransferError) {
            try started.withLock { started throws(TransferError) -> Session in
                if let started { return started }
                let session = try Session(configuration: configuration, name: name)
                started = session
                return session
            }
        }
    }

    /// Makes a request and returns its response with the body in memory: see ``Session/data(for:body:options:)``.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: Its body.
    ///   - options: Options that differ from the session's settings.
    /// - Returns: Body and response, whatever its status.
    /// - Throws: When there is no response.
    public func data(
        for request: HTTPRequest, body: Body = .none, options: TaskOptions = .init()
    ) async throws(TransferError) -> (bytes: [UInt8], response: HTTPResponse) {
        if let warm, case .none = body, options.isRelayed, request.method == .get || request.method == .head,
            !NetworkRules(options, configuration).isRestrictive
        {
            let head = try RequestHead(
                request, body: .none, options: options, additional: configuration.additionalHeaders)
            let timeout = options.timeoutForRequest ?? configuration.timeoutForRequest
            let relayed = RelayedRequest(
                request: head.request, timeoutForRequest: timeout.wholeNanoseconds / 1_000_000,
                maximumResponseBytes: Int64(options.maximumResponseBytes),
                certificateAuthorityFile: configuration.certificateAuthorityFile, pinnedKeys: configuration.pinnedKeys)
            switch await warm.perform(relayed) {
            case .success(.relayed(let answer))
            where !configuration.retryPolicy.statuses.contains(answer.response.status.code):
                if let limit = options.maximumBodyBytes?(answer.response), Int64(answer.bytes.count) > limit { break }
                return (answer.bytes, answer.response)
            case .failure(let error) where error.code == .timedOut:
                throw TransferError(.timedOut, error.message, phase: .wait, url: head.url.redacted)
            default: break
            }
            if Task.isCancelled { throw TransferError(.cancelled, "cancelled", url: head.url.redacted) }
        }
        return try await session.data(for: request, body: body, options: options)
    }
}

/// The connections of a running daemon, for a program that would have to load libcurl and connect first.
///
/// Any thread may use them; dropping the value disconnects from the daemon.
public final class WarmConnections: Sendable {
    /// How long the daemon may take to greet, and to answer beyond a request's own time, in seconds.
    private static let patience = 1
    private static let longestTimeout: Int64 = 86_400_000

    private let client: DaemonClient
    /// Why the daemon is not asked again: there is no second connection.
    private let failure = Mutex<TransferError?>(nil)

    private init(_ client: DaemonClient) { self.client = client }

    /// Connects to a daemon if one runs; blocks for microseconds, and does not make systemd start one.
    ///
    /// - Parameter service: The daemon's service.
    /// - Returns: Its connections; nil when none runs, or it belongs to another user.
    public static func find(_ service: BackgroundService) -> WarmConnections? {
        guard DaemonLock.isHeld(service.lockPath),
            let connection = try? FrameConnection.connect(to: service.socketPath, waiting: 0),
            connection.peer == geteuid()
        else { return nil }
        // There is no second connection: when the first one is lost, the program makes its requests itself.
        let unused = Mutex<FrameConnection?>(connection)
        var connector = DaemonConnector(service, isStarting: false) { service, _ throws(TransferError) in
            guard let connection = unused.withLock({ $0.take() }) else { throw service.silence }
            return connection
        }
        connector.patience = Self.patience
        // A request's own time limits the daemon's silence.
        connector.tick = { try? await Task.sleep(for: .milliseconds(Self.longestTimeout)) }
        return WarmConnections(DaemonClient(connector))
    }

    /// Makes a request.
    ///
    /// - Returns: The daemon's answer or refusal, or why none came: the daemon ended, hangs or is another version, or the
    ///   Swift task was cancelled.
    func perform(_ request: RelayedRequest) async -> Result<DaemonAnswer, TransferError> {
        if let failure = failure.withLock({ $0 }) { return .failure(failure) }
        let timeout = Duration.milliseconds(min(request.timeoutForRequest, Self.longestTimeout))
        let limit = Task.detached { [client] in
            // A daemon that works refuses earlier, when the request's time is over.
            try await Task.sleep(for: timeout + .seconds(Self.patience))
            await client.close()
        }
        defer { limit.cancel() }
        do throws(TransferError) { return .success(try await client.call(.relay(request))) } catch {
            if [.daemonUnavailable, .sessionInvalid].contains(error.code) { failure.withLock { $0 = error } }
            return .failure(error)
        }
    }
}

extension SessionConfiguration {
    /// Whether a daemon's session gives the same answer to a GET.
    fileprivate var isRelayed: Bool {
        let usual = SessionConfiguration()
        guard let rules = try? proxy.rules(), rules.http == nil, rules.https == nil else { return false }
        return certificateAuthorityFile?.hasPrefix("/") != false && certificateAuthorityDirectory == nil
            && clientCertificate == nil && minimumTLSVersion == usual.minimumTLSVersion
            && httpVersion == usual.httpVersion && addressOverrides.isEmpty && unixSocketPath == nil && decodesContent
            && cookieStore == nil && cache == nil && eventMonitors.isEmpty && !policy.changesRequests
            && policy.redirectHandler == nil && policy.retryHandler == nil
            && policy.challengeHandler == nil && policy.validation == nil && rateLimit == nil && trustEvaluator == nil
    }
}

extension TaskOptions {
    /// Whether a daemon's session gives the same answer to a GET.
    fileprivate var isRelayed: Bool {
        disposition == nil && resumeJournal == nil && rateLimit == nil && !hasPolicy && redirects != .all
    }
}

public import HTTPTypes
import Synchronization

/// A session that is started when it is first needed, for programs whose few questions a running daemon can ask.
///
/// A GET or HEAD goes over the daemon's ``WarmConnections``, where they are given and the session's settings ask for
/// nothing that is this program's alone (such as a proxy, a client certificate or a cache). Whatever goes wrong on that
/// way is asked again by the session itself, whose answer counts. All members may be used from any thread.
public final class WarmSession: Sendable {
    private let configuration: SessionConfiguration
    private let name: String
    private let warm: WarmConnections?
    private let started: Mutex<Session?>

    /// A session that is there already.
    public init(_ session: Session) {
        configuration = .ephemeral
        name = session.name
        warm = nil
        started = Mutex(session)
    }

    /// A session; without connections that it could use it is started at once.
    ///
    /// - Parameters:
    ///   - configuration: See ``Session``.
    ///   - name: See ``Session``.
    ///   - warm: The daemon's connections, if there is one.
    /// - Throws: As ``Session``.
    public init(
        configuration: SessionConfiguration, name: String, over warm: WarmConnections?
    ) throws(TransferError) {
        self.configuration = configuration
        self.name = name
        self.warm = configuration.isRelayed ? warm : nil
        started = Mutex(self.warm == nil ? try Session(configuration: configuration, name: name) : nil)
    }

    /// The session itself.
    ///
    /// - Throws: As ``Session``, when this starts it.
    public var session: Session {
        get throws(TransferError) {
            let result = started.withLock { started -> Result<Session, TransferError> in
                if let started { return .success(started) }
                do throws(TransferError) {
                    let session = try Session(configuration: configuration, name: name)
                    started = session
                    return .success(session)
                } catch { return .failure(error) }
            }
            return try result.get()
        }
    }

    /// Makes a request and returns its response with the body in memory: see ``Session/data(for:body:options:)``.
    ///
    /// - Parameters:
    ///   - request: What to ask.
    ///   - body: What to send.
    ///   - options: What to do differently from the session.
    /// - Returns: Body and response, whatever its status.
    /// - Throws: When there is no response.
    public func data(
        for request: HTTPRequest, body: Body = .none, options: TaskOptions = .init()
    ) async throws(TransferError) -> (bytes: [UInt8], response: HTTPResponse) {
        if let warm, case .none = body, options.isRelayed, request.method == .get || request.method == .head {
            let head = try RequestHead(
                request, body: .none, options: options, additional: configuration.additionalHeaders)
            let timeout = options.timeoutForRequest ?? configuration.timeoutForRequest
            let relayed = RelayedRequest(
                request: head.request, timeoutForRequest: timeout.milliseconds,
                maximumResponseBytes: Int64(options.maximumResponseBytes),
                certificateAuthorityFile: configuration.certificateAuthorityFile, pinnedKeys: configuration.pinnedKeys)
            switch await warm.perform(relayed) {
            case .relayed(let answer) where !configuration.retryPolicy.statuses.contains(answer.response.status.code):
                if let limit = options.maximumBodyBytes?(answer.response), Int64(answer.bytes.count) > limit { break }
                return (answer.bytes, answer.response)
            case .refused(TransferError.Code.timedOut.description, let message):
                throw TransferError(.timedOut, message, phase: .wait, url: head.url.redacted)
            default: break
            }
            if Task.isCancelled { throw TransferError(.cancelled, "cancelled", url: head.url.redacted) }
        }
        return try await session.data(for: request, body: body, options: options)
    }
}

extension SessionConfiguration {
    /// Whether a daemon's session does the same for a GET.
    fileprivate var isRelayed: Bool {
        let usual = SessionConfiguration()
        guard let rules = try? proxy.rules(), rules.http == nil, rules.https == nil else { return false }
        return certificateAuthorityFile?.hasPrefix("/") != false && certificateAuthorityDirectory == nil
            && clientCertificate == nil && minimumTLSVersion == usual.minimumTLSVersion
            && httpVersion == usual.httpVersion && addressOverrides.isEmpty && unixSocketPath == nil && decodesContent
            && cookieStore == nil && cache == nil && eventMonitors.isEmpty && !policy.changesRequests
            && policy.redirectHandler == nil && policy.retryHandler == nil
            && policy.validation == nil && rateLimit == nil
    }
}

extension TaskOptions {
    /// Whether a daemon's session does the same for a GET.
    fileprivate var isRelayed: Bool {
        disposition == nil && resumeJournal == nil && rateLimit == nil && !hasPolicy && redirects != .all
    }
}

extension Duration {
    /// In milliseconds, cut off.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isOver) = seconds.multipliedReportingOverflow(by: 1000)
        return isOver ? .max : whole + attoseconds / 1_000_000_000_000_000
    }
}

public import ByteClubCore
public import ByteClubHTTP
import Glibc

extension RemoteError {
    /// Maps why a request brought no answer, in words that name the club's host and nothing of the wire.
    ///
    /// - Parameters:
    ///   - error: Why.
    ///   - hasAnswered: Whether the server has answered an earlier request.
    ///   - offset: How many bytes of the content were sent by earlier requests.
    public init(_ error: TransferError, hasAnswered: Bool = false, from offset: Int64 = 0) {
        let code: Code
        switch error.code {
        case .cancelled: code = .cancelled
        case .timedOut, .cannotResolveHost, .cannotConnect, .connectionLost, .tls, .proxyRefused, .networkNotAllowed:
            code = .unreachable
        case .fileChanged, .fileUnreadable, .cannotWriteFile: code = .localFile
        case .bodyTooLarge: code = .tooLarge
        case .badRequest, .badConfiguration: code = .badRequest
        case .tooManyRedirects, .insecureRedirect, .protocolViolation: code = .protocolViolation
        default: code = error.isRetryable ? .unreachable : .protocolViolation
        }
        let words = error.words(isOfWay: code == .unreachable, hasAnswered, offset)
        self.init(code, code == .cancelled ? "cancelled" : words)
        isOfProxy = error.isOfProxy
    }
}

extension TransferError {
    /// What went wrong, for people; `isOfWay` when the club was not reached.
    fileprivate func words(isOfWay: Bool, _ hasAnswered: Bool, _ offset: Int64) -> String {
        guard let host, !isOfProxy, code != .proxyRefused else { return message }
        if isOfWay, code == .timedOut, let moved = moved(from: offset) {
            return "the transfer with the club at \(host) stalled after \(HumanSize.shown(moved))"
        }
        if isOfWay { return "cannot reach the club at \(host): \(reason(hasAnswered))" }
        return code == .protocolViolation ? "invalid answer from the club at \(host): \(message)" : message
    }

    /// Host and port of the address; nil without one.
    private var host: Substring? {
        let parts = url.split(separator: "/", maxSplits: 2)
        return parts.count > 1 && parts[0].hasSuffix(":") ? parts[1] : nil
    }

    /// How many bytes of a content were moved when it stalled; nil when it had not begun, or was sent to its end.
    private func moved(from offset: Int64) -> Int64? {
        switch phase {
        case .send where bytesSent > 0 || offset > 0: offset + bytesSent
        case .receive: resumeData?.bytesReceived ?? bytesReceived
        default: nil
        }
    }

    private func reason(_ hasAnswered: Bool) -> String {
        switch code {
        case .cannotResolveHost: "unknown host name"
        case .cannotConnect where errno == ECONNREFUSED: "no server is listening"
        case .cannotConnect where errno == ENETUNREACH || errno == EHOSTUNREACH: "network unreachable"
        case .cannotConnect: "cannot connect"
        case .timedOut: lateness
        case .tls: distrust
        // A server that speaks TLS alone closes a connection that begins without it, before any answer.
        case .connectionLost where url.hasPrefix("http:") && !hasAnswered && isFirstContact:
            "connection closed; try https://"
        case .connectionLost where bytesReceived == 0: "the server closed the connection"
        case .connectionLost: "connection lost"
        default: message
        }
    }

    /// Whether no byte has come over any connection, each of which was a new one.
    private var isFirstContact: Bool { metrics.attempts.allSatisfy { !$0.isReused && $0.bytesReceived == 0 } }

    private var lateness: String {
        // The time before the last byte was sent is none in which it was silent.
        let waited = bytesSent > 0 ? metrics.attempts.last?.wait : nil
        let seconds = (waited ?? metrics.total).components.seconds
        return seconds > 0 ? "it did not answer in \(seconds) s" : "it does not answer"
    }

    /// Why there is no TLS, as far as libcurl's words tell.
    private var distrust: String {
        let known = [
            ("pinned", "its key is not the pinned one: a different server, or an attack"),
            ("wrong version number", "it does not use TLS"), ("packet length", "it does not use TLS"),
            ("record layer failure", "it does not use TLS"), ("expired", "its certificate has expired"),
            ("not yet valid", "its certificate is not yet valid"),
            ("subject name", "its certificate is for another name"),
            ("self-signed", "its certificate is not trusted"),
            ("self signed", "its certificate is not trusted"),
            ("issuer", "its certificate is not trusted"),
        ]
        return known.first { message.contains($0.0) }?.1 ?? message
    }
}

public import ByteClubCore
public import ByteClubHTTP
import Glibc

extension RemoteError {
    /// Maps why a request brought no answer, in words that name the club's host and nothing of the wire.
    public init(_ error: TransferError) {
        let code: Code
        switch error.code {
        case .cancelled: code = .cancelled
        case .timedOut, .cannotResolveHost, .cannotConnect, .connectionLost, .tls, .proxyRefused: code = .unreachable
        case .fileChanged, .fileUnreadable, .cannotWriteFile: code = .localFile
        case .bodyTooLarge: code = .tooLarge
        case .badRequest, .badConfiguration: code = .badRequest
        case .tooManyRedirects, .insecureRedirect, .protocolViolation: code = .protocolViolation
        default: code = error.isRetryable ? .unreachable : .protocolViolation
        }
        self.init(code, code == .cancelled ? "cancelled" : error.words(isOfWay: code == .unreachable))
        isOfProxy = error.isOfProxy
    }
}

extension TransferError {
    /// What went wrong, for people; `isOfWay` when the club was not reached.
    fileprivate func words(isOfWay: Bool) -> String {
        guard let host, !isOfProxy, code != .proxyRefused else { return message }
        if isOfWay { return "cannot reach the club at \(host): \(reason)" }
        return code == .protocolViolation ? "invalid answer from the club at \(host): \(message)" : message
    }

    /// Host and port of the address; nil without one.
    private var host: Substring? {
        let parts = url.split(separator: "/", maxSplits: 2)
        return parts.count > 1 && parts[0].hasSuffix(":") ? parts[1] : nil
    }

    private var reason: String {
        switch code {
        case .cannotResolveHost: "unknown host name"
        case .cannotConnect where errno == ECONNREFUSED: "connection refused"
        case .cannotConnect where errno == ENETUNREACH || errno == EHOSTUNREACH: "network unreachable"
        case .cannotConnect: "cannot connect"
        case .timedOut: lateness
        case .tls: distrust
        // What a server of https makes of http.
        case .connectionLost where url.hasPrefix("http:") && bytesReceived == 0: "connection closed; try https://"
        case .connectionLost: "connection lost"
        default: message
        }
    }

    private var lateness: String {
        let seconds = metrics.total.components.seconds
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

import ByteClubCore
import ByteClubHTTP

extension RemoteError {
    /// Maps why a request brought no answer.
    init(_ error: TransferError) {
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
        self.init(code, code == .cancelled ? "cancelled" : error.description)
        isOfProxy = error.isOfProxy
    }
}

import HTTPTypes

extension BackgroundFailure {
    init(_ code: TransferError.Code, _ message: String, status: Int? = nil, isRetryable: Bool = false) {
        self.init(code: code.rawValue, message: message, status: status, isRetryable: isRetryable)
    }

    /// The failure of custom work, without the message of an unknown error, which may contain secrets.
    init(of error: any Error) {
        switch error {
        case let failure as BackgroundFailure: self = failure
        // Its progress is in its checkpoint.
        case let error as TransferError: self.init(error, isRepeatable: true)
        default: self.init(.other, "the work failed")
        }
    }

    /// The failure of a request without a response; a repeatable one has the same effect when it is sent twice.
    init(_ error: TransferError, isRepeatable: Bool) {
        self.init(error.code, error.description)
        switch error.code {
        case .cannotResolveHost, .cannotConnect, .proxyRefused, .networkNotAllowed: isRetryable = true
        case .connectionLost: isRetryable = isRepeatable
        case .timedOut: isRetryable = isRepeatable || Self.isBeforeRequest(error.phase)
        // An interrupted handshake may pass later, an invalid certificate does not.
        case .tls: isRetryable = error.curlCode == Self.handshakeFailed
        default: isRetryable = error.isRetryable
        }
    }

    /// The failure of a request whose response is no 2xx; the time is in seconds since 1970.
    init(_ response: HTTPResponse, isRepeatable: Bool, now: Int64) {
        let status = response.status.code
        self.init(
            .unacceptableResponse, "the server answered \(status)", status: status,
            isRetryable: isRepeatable && Self.isPassing(status))
        if isRetryable, let value = response.headerFields[.retryAfter] {
            retryAfter = RetryAfter.delay(value, now: now).map { $0.components.seconds }
        }
    }

    /// Whether a later request may get another status.
    private static func isPassing(_ status: Int) -> Bool {
        status == 408 || status == 425 || status == 429 || (500...599).contains(status) && status != 501
    }

    private static func isBeforeRequest(_ phase: TransferError.Phase) -> Bool {
        switch phase {
        case .queue, .resolve, .connect, .tls: true
        case .send, .wait, .receive, .file: false
        }
    }

    /// CURLE_SSL_CONNECT_ERROR.
    private static let handshakeFailed: Int32 = 35
}

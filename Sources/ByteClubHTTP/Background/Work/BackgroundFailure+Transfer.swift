import HTTPTypes

extension BackgroundFailure {
    /// What went wrong with a work, without what only its program may know.
    init(of error: any Error) {
        switch error {
        case let failure as BackgroundFailure: self = failure
        // What it did until then is in its checkpoint.
        case let error as TransferError: self.init(error, isRepeatable: true)
        default: self.init(code: TransferError.Code.other.description, message: "the work failed")
        }
    }

    /// Why a request brought no response.
    ///
    /// - Parameters:
    ///   - error: What the session says.
    ///   - isRepeatable: Whether sending the request twice does no more than sending it once.
    init(_ error: TransferError, isRepeatable: Bool) {
        self.init(code: error.code.description, message: error.description)
        switch error.code {
        case .cannotResolveHost, .cannotConnect, .proxyRefused: isRetryable = true
        case .connectionLost: isRetryable = isRepeatable
        case .timedOut: isRetryable = isRepeatable || Self.isBeforeRequest(error.phase)
        // A handshake that was cut off, unlike a certificate that is wrong.
        case .tls: isRetryable = error.curlCode == Self.handshakeFailed
        default: isRetryable = error.isRetryable
        }
    }

    /// Why a response is not the wanted one.
    ///
    /// - Parameters:
    ///   - response: The response, which is no 2xx.
    ///   - isRepeatable: As above.
    ///   - now: In seconds since 1970.
    init(_ response: HTTPResponse, isRepeatable: Bool, now: Int64) {
        let status = response.status.code
        self.init(
            code: TransferError.Code.unacceptableResponse.description, message: "the server answered \(status)",
            status: status, isRetryable: isRepeatable && Self.isPassing(status))
        if isRetryable, let value = response.headerFields[.retryAfter] {
            retryAfter = RetryAfter.delay(value, now: now).map { $0.components.seconds }
        }
    }

    /// Whether a status may be another one the next time.
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

import CLibcurl

/// What a libcurl result means to us.
struct CurlCode {
    var code: TransferError.Code
    /// Whether the request cannot have been acted on, so that repeating it is harmless for every method.
    var isBeforeRequest = false
    /// Whether the connection was lost, so that repeating an idempotent request makes sense.
    var isLoss = false

    init(_ result: CURLcode, phase: TransferError.Phase) {
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            code = .cannotResolveHost
            isBeforeRequest = true
        case CURLE_COULDNT_CONNECT:
            code = .cannotConnect
            isBeforeRequest = true
        case CURLE_OPERATION_TIMEDOUT:
            code = .timedOut
            isBeforeRequest = phase == .resolve || phase == .connect || phase == .tls
        case CURLE_SSL_CONNECT_ERROR:
            code = .tls
            isBeforeRequest = true
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_USE_SSL_FAILED:
            code = .tls
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_SEND_FAIL_REWIND,
            CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_SSL_SHUTDOWN_FAILED:
            code = .connectionLost
            isLoss = true
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING,
            CURLE_TOO_MANY_REDIRECTS, CURLE_RANGE_ERROR:
            code = .protocolViolation
        case CURLE_URL_MALFORMAT: code = .badRequest
        case CURLE_READ_ERROR: code = .fileUnreadable
        case CURLE_WRITE_ERROR: code = .cannotWriteFile
        case CURLE_FILESIZE_EXCEEDED: code = .bodyTooLarge
        case CURLE_ABORTED_BY_CALLBACK: code = .cancelled
        default: code = .other
        }
    }
}

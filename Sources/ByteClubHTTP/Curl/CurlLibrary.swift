import CLibcurl
import Glibc

/// libcurl, loaded and initialised on first use.
enum CurlLibrary {
    /// The loaded version as 0xXXYYZZ, or why it cannot be used.
    static let version: Result<UInt32, TransferError> = {
        // A peer that closes early must be an error of one transfer, not the end of the program.
        signal(SIGPIPE, SIG_IGN)
        if let problem = unsafe byteclub_curl_load() {
            let reason = unsafe String(cString: problem)
            return .failure(TransferError(.libraryMissing, "libcurl (package libcurl4) cannot be loaded: \(reason)"))
        }
        let version = byteclub_curl_version()
        guard version >= 0x075700 else {
            let text = "\(version >> 16).\(version >> 8 & 255).\(version & 255)"
            return .failure(TransferError(.libraryMissing, "libcurl 7.87 or later is needed, \(text) is installed"))
        }
        return .success(version)
    }()

    /// Whether HTTP/2 uploads busy-wait while the receiver is slow (fixed in 8.2.0).
    static let hasBusyUploads = (try? version.get()).map { $0 < 0x080200 } ?? true

    static func describe(_ code: CURLcode) -> String {
        unsafe byteclub_curl_easy_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code.rawValue)"
    }
}

/// The meaning of a libcurl result code.
struct CurlCode {
    var code: TransferError.Code
    /// Whether the server cannot have acted on the request, so that every method may be repeated.
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

    /// Whether a result that comes while the head of a response is read is for a line of more than 100 KiB: there
    /// libcurl reports a lack of memory, and since 8.6 that something is too large (100).
    static func isLineTooLong(_ result: CURLcode) -> Bool {
        result == CURLE_OUT_OF_MEMORY || result.rawValue == 100
    }
}

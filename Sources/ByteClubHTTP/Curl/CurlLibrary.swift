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

    /// Whether HTTP/2 uploads burn a processor while the receiver is slow (mended in 8.2.0).
    static let hasBusyUploads = (try? version.get()).map { $0 < 0x080200 } ?? true

    static func describe(_ code: CURLcode) -> String {
        unsafe byteclub_curl_easy_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code.rawValue)"
    }
}

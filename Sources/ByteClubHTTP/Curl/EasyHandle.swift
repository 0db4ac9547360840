import CLibcurl
import Synchronization

/// A libcurl easy handle with the memory that it refers to.
///
/// Used only on the loop's thread.
///
/// Setters record the first failure in ``failure`` instead of throwing.
@safe
final class EasyHandle {
    static let liveCount = Atomic<Int>(0)

    let pointer: UnsafeMutableRawPointer
    private(set) var failure = CURLE_OK
    private let message: UnsafeMutablePointer<CChar>
    private var list: UnsafeMutablePointer<curl_slist>?
    /// Whether libcurl has copied the body, which it then counts as part of the head.
    var holdsBody = false
    private var addresses: UnsafeMutablePointer<curl_slist>?

    /// Creates a handle that always uses this share.
    ///
    /// The share is set first: a handle without one creates its own TLS session table, even for http, and loses it when
    /// a share is set.
    init?(share: UnsafeMutableRawPointer?) {
        guard let pointer = unsafe byteclub_curl_easy_init() else { return nil }
        unsafe self.pointer = unsafe pointer
        unsafe message = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        Self.liveCount.add(1, ordering: .relaxed)
        unsafe set(CURLOPT_SHARE, pointer: share)
    }

    deinit {
        unsafe byteclub_curl_easy_cleanup(pointer)
        unsafe byteclub_curl_slist_free(list)
        unsafe byteclub_curl_slist_free(addresses)
        unsafe message.deallocate()
        Self.liveCount.subtract(1, ordering: .relaxed)
    }

    /// Resets all options.
    ///
    /// Connections and caches belong to the multi handle and the share, and are kept.
    func reset() {
        unsafe byteclub_curl_easy_reset(pointer)
        unsafe byteclub_curl_slist_free(list)
        unsafe list = nil
        holdsBody = false
        unsafe byteclub_curl_slist_free(addresses)
        unsafe addresses = nil
        failure = CURLE_OK
    }

    func set(_ option: CURLoption, _ value: Int) {
        note(unsafe byteclub_curl_set_long(pointer, option, value))
    }

    func set(_ option: CURLoption, offset value: Int64) {
        note(unsafe byteclub_curl_set_offset(pointer, option, curl_off_t(value)))
    }

    func set(_ option: CURLoption, _ value: String) {
        note(unsafe byteclub_curl_set_string(pointer, option, value))
    }

    func set(_ option: CURLoption, pointer value: UnsafeMutableRawPointer?) {
        note(unsafe byteclub_curl_set_pointer(pointer, option, value))
    }

    /// Sets an option whose bytes libcurl copies.
    func set(_ option: CURLoption, copying bytes: UnsafeRawBufferPointer) {
        note(unsafe byteclub_curl_set_copied(pointer, option, bytes.baseAddress))
    }

    /// Adds a request header line; ``setHeader()`` passes all of them to libcurl.
    func addHeader(_ line: String) { addHeader(Array(line.utf8)) }

    /// Adds a request header line of any bytes except NUL.
    func addHeader(_ line: [UInt8]) {
        let line = line.map { CChar(bitPattern: $0) } + [0]
        guard let longer = unsafe byteclub_curl_slist_append(list, line) else {
            return note(CURLE_OUT_OF_MEMORY)
        }
        unsafe list = unsafe longer
    }

    /// Sets addresses that replace name lookup.
    func setAddresses(_ lines: [String]) {
        for line in lines {
            guard let longer = unsafe byteclub_curl_slist_append(addresses, line) else {
                return note(CURLE_OUT_OF_MEMORY)
            }
            unsafe addresses = unsafe longer
        }
        unsafe set(CURLOPT_RESOLVE, pointer: addresses)
    }

    func setHeader() { unsafe set(CURLOPT_HTTPHEADER, pointer: list) }

    func setErrorBuffer() {
        unsafe message.pointee = 0
        unsafe set(CURLOPT_ERRORBUFFER, pointer: message)
    }

    /// libcurl's message about the failure, or its general text for the code.
    func describe(_ code: CURLcode) -> String {
        unsafe message.pointee == 0 ? CurlLibrary.describe(code) : String(cString: message)
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        _ = unsafe byteclub_curl_get_long(pointer, info, &value)
        return value
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        _ = unsafe byteclub_curl_get_offset(pointer, info, &value)
        return Int64(value)
    }

    func note(_ code: CURLcode) {
        if failure == CURLE_OK { failure = code }
    }
}

extension EasyHandle {
    /// The phase that the transfer reached, derived from libcurl's times.
    ///
    /// The phases of a reused connection count as complete.
    func phase(isSecure: Bool, isSending: Bool) -> TransferError.Phase {
        if offset(CURLINFO_PRETRANSFER_TIME_T) > 0 { return isSending ? .send : .wait }
        if offset(CURLINFO_CONNECT_TIME_T) > 0 { return isSecure ? .tls : .send }
        return offset(CURLINFO_NAMELOOKUP_TIME_T) > 0 ? .connect : .resolve
    }
}

extension EasyHandle {
    /// Fills in libcurl's measurements when an attempt ends.
    ///
    /// libcurl 7.88 measures neither the time in its own queue nor the time of the last byte sent.
    func fill(_ metrics: inout TaskMetrics.Attempt, _ times: inout AttemptTimes, isSecure: Bool, hasBody: Bool) {
        func moment(_ info: CURLINFO) -> Moment? {
            let microseconds = offset(info)
            return microseconds > 0 ? times.launched.advanced(by: .microseconds(microseconds)) : nil
        }
        times.resolved = moment(CURLINFO_NAMELOOKUP_TIME_T)
        times.connected = moment(CURLINFO_CONNECT_TIME_T)
        let ready = moment(CURLINFO_PRETRANSFER_TIME_T)
        let handshake = isSecure ? moment(CURLINFO_APPCONNECT_TIME_T) : times.connected
        times.secured = handshake ?? (ready == nil ? nil : times.connected)
        if !hasBody { times.sent = ready }
        metrics.isReused = ready != nil && long(CURLINFO_NUM_CONNECTS) == 0
        metrics.bytesSent = Int64(long(CURLINFO_REQUEST_SIZE))
        metrics.bytesReceived = Int64(long(CURLINFO_HEADER_SIZE))
        metrics.remoteAddress = text(CURLINFO_PRIMARY_IP)
        metrics.remotePort = long(CURLINFO_PRIMARY_PORT)
        switch long(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0): metrics.httpVersion = "1.0"
        case Int(CURL_HTTP_VERSION_1_1): metrics.httpVersion = "1.1"
        case Int(CURL_HTTP_VERSION_2_0): metrics.httpVersion = "2"
        case 30: metrics.httpVersion = "3"
        default: break
        }
    }

    private func text(_ info: CURLINFO) -> String {
        var value: UnsafePointer<CChar>?
        guard unsafe byteclub_curl_get_string(pointer, info, &value) == CURLE_OK, let value = unsafe value else {
            return ""
        }
        return unsafe String(cString: value)
    }
}

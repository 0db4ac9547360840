import CLibcurl
import Synchronization

/// A libcurl easy handle and what it points to.
///
/// Belongs to the loop's thread.
///
/// Setters note the first failure in ``failure`` instead of throwing one by one.
@safe
final class EasyHandle {
    static let liveCount = Atomic<Int>(0)

    let pointer: UnsafeMutableRawPointer
    private(set) var failure = CURLE_OK
    private let message: UnsafeMutablePointer<CChar>
    private var list: UnsafeMutablePointer<curl_slist>?
    /// Whether libcurl has a copy of the body, which it then counts as part of the head.
    var holdsBody = false
    private var addresses: UnsafeMutablePointer<curl_slist>?

    /// A handle for good with this share.
    ///
    /// From the start: the table of TLS sessions that a handle without one makes for itself, also for http, is lost when
    /// a share takes its place.
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

    /// Forgets every option; connections and caches stay, they belong to the multi handle and the share, which stays too.
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

    /// Adds a line to the request's header; ``setHeader()`` hands them all to libcurl.
    func addHeader(_ line: String) { addHeader(Array(line.utf8)) }

    /// Adds a line of any bytes but NUL.
    func addHeader(_ line: [UInt8]) {
        let line = line.map { CChar(bitPattern: $0) } + [0]
        guard let longer = unsafe byteclub_curl_slist_append(list, line) else {
            return note(CURLE_OUT_OF_MEMORY)
        }
        unsafe list = unsafe longer
    }

    /// Says where hosts are, instead of looking them up.
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

    /// What libcurl wrote about the failure, or its general text for the code.
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

import CLibcurl
import HTTPTypes

extension EasyHandle {
    private static let uploadBuffer: Int64 = 256 << 10
    private static let smallest: Int64 = 16 << 10

    /// Sets every option for one attempt of a transfer.
    func prepare(_ transfer: Transfer, _ configuration: SessionConfiguration, share: UnsafeMutableRawPointer?) {
        setErrorBuffer()
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_URL, transfer.head.url.text)
        // Nine probes without an answer end a connection to a machine that is gone: after a minute, however long an
        // answer may take.
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_TCP_KEEPIDLE, 30)
        set(CURLOPT_TCP_KEEPINTVL, 3)
        set(CURLOPT_MAXAGE_CONN, 55)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_CONNECTTIMEOUT_MS, max(configuration.connectTimeout.wholeMilliseconds, 1))
        if transfer.head.url.origin.isLoopback { set(CURLOPT_PROXY, "") }
        if transfer.head.url.origin.scheme == .https {
            prepareTrust(configuration)
            unsafe set(CURLOPT_SHARE, pointer: share)
        }
        prepareMethod(transfer)
        prepareSizes(transfer)
        for field in transfer.head.fields {
            let value = field.value
            addHeader(value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(value)")
        }
        setHeader()
        setCallbacks(transfer)
    }

    private func prepareTrust(_ configuration: SessionConfiguration) {
        guard configuration.pinnedKeys.isEmpty else {
            // Safe without authorities and names: the handshake ends only with who holds the private half of a pinned
            // key, which is more than any authority vouches for, and the request is sent after that. In TLS 1.3 no
            // server goes without a certificate; libcurl would not miss one here.
            set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_3))
            set(CURLOPT_PINNEDPUBLICKEY, configuration.pinnedKeys.map(\.description).sorted().joined(separator: ";"))
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
            return
        }
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        if let file = configuration.certificateAuthorityFile { set(CURLOPT_CAINFO, file) }
    }

    private func prepareMethod(_ transfer: Transfer) {
        let head = transfer.head
        if let body = bodySentWithHead(transfer) {
            set(CURLOPT_POSTFIELDSIZE, body.count)
            unsafe body.withUnsafeBytes { unsafe set(CURLOPT_COPYPOSTFIELDS, copying: $0) }
            addHeader("Expect:")
            if !head.fields.contains(.contentType) { addHeader("Content-Type:") }
        } else if head.hasBody || head.method == .post || head.method == .put || head.method == .patch {
            set(CURLOPT_UPLOAD, 1)
            set(CURLOPT_INFILESIZE_LARGE, offset: transfer.source?.length ?? 0)
            // Without this every upload waits a second for a server that never says 100.
            addHeader("Expect:")
        } else if head.method == .head {
            set(CURLOPT_NOBODY, 1)
            return
        }
        set(CURLOPT_CUSTOMREQUEST, head.method.rawValue)
        if (transfer.source?.length ?? 0) == 0, !transfer.mayRepeat { set(CURLOPT_FRESH_CONNECT, 1) }
    }

    /// The body of a small POST, which libcurl sends in one packet with the head when it holds it itself.
    ///
    /// Nil where the callbacks must see it: a throttle, and what must not be sent twice on a kept connection that died.
    private func bodySentWithHead(_ transfer: Transfer) -> [UInt8]? {
        let isFree = transfer.mayRepeat && transfer.task.options.rateLimit == nil
        guard transfer.head.method == .post, isFree else { return nil }
        return transfer.source?.bytes(atMost: Self.smallest)
    }

    private func prepareSizes(_ transfer: Transfer) {
        let length = transfer.source?.length ?? 0
        let rate = transfer.task.options.rateLimit
        if length > 0 {
            let wanted = rate.map { min(Int64($0) / 4, Self.uploadBuffer) } ?? Self.uploadBuffer
            set(CURLOPT_UPLOAD_BUFFERSIZE, Int(min(max(wanted, Self.smallest), max(length, Self.smallest))))
        }
        let usesOldest = rate != nil || (length > 0 && CurlLibrary.hasBusyUploads)
        set(CURLOPT_HTTP_VERSION, usesOldest ? Int(CURL_HTTP_VERSION_1_1) : Int(CURL_HTTP_VERSION_2TLS))
        if case .download = transfer.task.kind {
            set(CURLOPT_BUFFERSIZE, rate.map { min(max($0 / 8, 1024), 256 << 10) } ?? 256 << 10)
        } else {
            if let rate { set(CURLOPT_BUFFERSIZE, min(max(rate / 8, 1024), 16 << 10)) }
            let fields = transfer.head.fields
            if !fields.contains(.acceptEncoding), !fields.contains(.range) { set(CURLOPT_ACCEPT_ENCODING, "") }
            if length == 0, transfer.head.url.origin.scheme == .https { set(CURLOPT_PIPEWAIT, 1) }
        }
    }

    private func setCallbacks(_ transfer: Transfer) {
        let context = unsafe Unmanaged.passUnretained(transfer).toOpaque()
        unsafe set(CURLOPT_PRIVATE, pointer: context)
        set(CURLOPT_NOPROGRESS, 0)
        note(unsafe byteclub_curl_set_write(pointer, Transfer.onBody, context))
        note(unsafe byteclub_curl_set_header(pointer, Transfer.onHeader, context))
        note(unsafe byteclub_curl_set_progress(pointer, Transfer.onProgress, context))
        note(unsafe byteclub_curl_set_read(pointer, Transfer.onRead, context))
        note(unsafe byteclub_curl_set_seek(pointer, Transfer.onSeek, context))
    }
}

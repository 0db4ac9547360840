import CLibcurl
import HTTPTypes

extension EasyHandle {
    private static let uploadBuffer: Int64 = 256 << 10
    private static let smallest: Int64 = 16 << 10

    /// Sets every option for one attempt of a transfer.
    func prepare(_ transfer: Transfer, _ configuration: SessionConfiguration) {
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
        prepareRoute(transfer, configuration)
        if transfer.head.url.origin.scheme == .https {
            prepareTrust(configuration)
            prepareIdentity(transfer, configuration)
        }
        prepareMethod(transfer)
        prepareSizes(transfer, configuration)
        for field in transfer.head.fields {
            addHeader(field.name.rawName, unsafe field.withUnsafeBytesOfValue { unsafe Array($0) })
        }
        for field in transfer.attempt.asked?.request ?? [] { addHeader(field.name, Array(field.value.utf8)) }
        // Made for each hop anew, so that they never follow a redirect.
        transfer.attempt.cookies = transfer.cookies(from: configuration)
        if let cookies = transfer.attempt.cookies { addHeader("Cookie", Array(cookies.utf8)) }
        transfer.recheckStored(configuration)
        for (name, value) in transfer.stored?.stored.conditions ?? [] { addHeader(name, Array(value.utf8)) }
        transfer.askedAt = configuration.cache?.time ?? 0
        setHeader()
        setCallbacks(transfer)
    }

    /// Adds a field with the bytes of its value as they are, but for blanks around it.
    private func addHeader(_ name: String, _ value: [UInt8]) {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 9 }
        var value = value[...].drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        // libcurl leaves out what has nothing but blanks behind its colon.
        addHeader(value.isEmpty ? Array("\(name);".utf8) : Array("\(name): ".utf8) + value)
    }

    /// Which way the connection goes: straight, by a proxy, or to a socket of this machine.
    private func prepareRoute(_ transfer: Transfer, _ configuration: SessionConfiguration) {
        let origin = transfer.head.url.origin
        // Always set, so that libcurl does not look at the environment itself.
        set(CURLOPT_NOPROXY, "")
        if let path = configuration.unixSocketPath {
            set(CURLOPT_PROXY, "")
            return set(CURLOPT_UNIX_SOCKET_PATH, path)
        }
        let addresses = configuration.addressOverrides.filter { $0.host == origin.host && $0.port == origin.port }
        if !addresses.isEmpty { setAddresses(addresses.map(\.line)) }
        if origin.isLoopback { return set(CURLOPT_PROXY, "") }
        do {
            guard let proxy = try configuration.proxyRules.get().server(for: origin) else {
                return set(CURLOPT_PROXY, "")
            }
            set(CURLOPT_PROXY, proxy.description)
            if let user = proxy.user {
                set(CURLOPT_PROXYUSERNAME, user)
                set(CURLOPT_PROXYPASSWORD, (try? proxy.password?.reveal()) ?? "")
            }
        } catch {
            transfer.attempt.failure = transfer.error(error.code, error.message, phase: .queue)
            note(CURLE_COULDNT_RESOLVE_PROXY)
        }
    }

    /// Shows the client's certificate to the origin that the request was made for, and to nobody else.
    private func prepareIdentity(_ transfer: Transfer, _ configuration: SessionConfiguration) {
        guard let certificate = configuration.clientCertificate,
            let own = try? RequestURL(transfer.task.request).origin, own == transfer.head.url.origin
        else { return }
        set(CURLOPT_SSLCERT, certificate.certificateFile)
        set(CURLOPT_SSLKEY, certificate.keyFile)
        // Without one OpenSSL would ask on the terminal.
        set(CURLOPT_KEYPASSWD, (try? configuration.keyPassphrase?.reveal()) ?? "")
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
        let isNewest = configuration.minimumTLSVersion == .v13
        set(CURLOPT_SSLVERSION, Int(isNewest ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        let (file, folder) = (configuration.certificateAuthorityFile, configuration.certificateAuthorityDirectory)
        guard file != nil || folder != nil else { return }
        // Each replaces the system's file and folder, which libcurl would trust beside the other.
        if let file { set(CURLOPT_CAINFO, file) } else { unsafe set(CURLOPT_CAINFO, pointer: nil) }
        if let folder { set(CURLOPT_CAPATH, folder) } else { unsafe set(CURLOPT_CAPATH, pointer: nil) }
    }

    private func prepareMethod(_ transfer: Transfer) {
        let head = transfer.head
        if let body = bodySentWithHead(transfer) {
            holdsBody = true
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
        if (transfer.source?.length ?? 0) <= 0, !transfer.mayRepeat { set(CURLOPT_FRESH_CONNECT, 1) }
    }

    /// The body of a small POST, which libcurl sends in one packet with the head when it holds it itself.
    ///
    /// Nil where the callbacks must see it: a throttle, and what must not be sent twice on a kept connection that died.
    private func bodySentWithHead(_ transfer: Transfer) -> [UInt8]? {
        let isFree = transfer.mayRepeat && transfer.rateLimit == nil
        guard transfer.head.method == .post, isFree else { return nil }
        return transfer.source?.bytes(atMost: Self.smallest)
    }

    private func prepareSizes(_ transfer: Transfer, _ configuration: SessionConfiguration) {
        let length = transfer.source?.length ?? 0
        let rate = transfer.rateLimit
        if length != 0 {
            let wanted = rate.map { min(Int64($0) / 4, Self.uploadBuffer) } ?? Self.uploadBuffer
            set(
                CURLOPT_UPLOAD_BUFFERSIZE,
                Int(min(max(wanted, Self.smallest), max(length < 0 ? .max : length, Self.smallest))))
        }
        // What is paused while more comes would gather in libcurl.
        if case .stream = transfer.task.kind { return prepareStream(rate) }
        let usesOldest =
            switch configuration.httpVersion {
            case .http1: true
            case .http2: false
            case .automatic: rate != nil || (length != 0 && CurlLibrary.hasBusyUploads)
            }
        set(CURLOPT_HTTP_VERSION, usesOldest ? Int(CURL_HTTP_VERSION_1_1) : Int(CURL_HTTP_VERSION_2TLS))
        if case .download = transfer.task.kind {
            set(CURLOPT_BUFFERSIZE, rate.map { min(max($0 / 64, 1024), 256 << 10) } ?? 256 << 10)
        } else {
            if let rate { set(CURLOPT_BUFFERSIZE, min(max(rate / 64, 1024), 16 << 10)) }
            let fields = transfer.head.fields
            if configuration.decodesContent, !fields.contains(.acceptEncoding), !fields.contains(.range) {
                set(CURLOPT_ACCEPT_ENCODING, "")
            }
            if length == 0, transfer.head.url.origin.scheme == .https { set(CURLOPT_PIPEWAIT, 1) }
        }
    }

    private func prepareStream(_ rate: Int?) {
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        set(CURLOPT_BUFFERSIZE, rate.map { min(max($0 / 64, 1024), 64 << 10) } ?? 64 << 10)
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
        note(unsafe byteclub_curl_set_prereq(pointer, Transfer.onRequest, context))
    }
}

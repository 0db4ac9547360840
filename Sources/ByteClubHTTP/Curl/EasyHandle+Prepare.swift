import CLibcurl
import HTTPTypes

extension EasyHandle {
    private static let uploadBuffer: Int64 = 64 << 10
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
        // Nine unanswered probes close the connection to a dead machine after about a minute, however long a response
        // may take.
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_TCP_KEEPIDLE, 30)
        set(CURLOPT_TCP_KEEPINTVL, 3)
        set(CURLOPT_MAXAGE_CONN, 55)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_CONNECTTIMEOUT_MS, max(configuration.connectTimeout.wholeMilliseconds, 1))
        prepareRoute(transfer, configuration)
        prepareService(transfer, configuration)
        if transfer.head.url.origin.scheme == .https {
            prepareTrust(configuration)
            prepareIdentity(transfer, configuration)
        }
        prepareMethod(transfer)
        prepareSizes(transfer, configuration)
        addAnswers(transfer)
        for field in transfer.head.fields {
            addHeader(field.name.rawName, unsafe field.withUnsafeBytesOfValue { unsafe Array($0) })
        }
        for field in transfer.attempt.asked?.request ?? [] { addHeader(field.name, Array(field.value.utf8)) }
        // Computed for each hop, so that cookies never follow a redirect.
        transfer.attempt.cookies = transfer.cookies(from: configuration)
        if let cookies = transfer.attempt.cookies { addHeader("Cookie", Array(cookies.utf8)) }
        transfer.recheckStored(configuration)
        for (name, value) in transfer.stored?.stored.conditions ?? [] { addHeader(name, Array(value.utf8)) }
        transfer.underWay.askedAt = configuration.cache?.time ?? 0
        setHeader()
        setCallbacks(transfer)
    }

    /// Adds the answers to challenges of the server, and of a proxy that forwards the request.
    private func addAnswers(_ transfer: Transfer) {
        guard let record = transfer.challenges else { return }
        if let field = record.sent?.field { addHeader("Authorization", Array(field.utf8)) }
        if let field = record.sentToProxy?.field { addHeader("Proxy-Authorization", Array(field.utf8)) }
    }

    /// Adds a field with the bytes of its value, without surrounding whitespace.
    private func addHeader(_ name: String, _ value: [UInt8]) {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 9 }
        var value = value[...].drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        // libcurl drops a header with an empty value unless it ends in a semicolon.
        addHeader(value.isEmpty ? Array("\(name);".utf8) : Array("\(name): ".utf8) + value)
    }

    /// Sets the route of the connection: direct, through a proxy, or to a local socket.
    private func prepareRoute(_ transfer: Transfer, _ configuration: SessionConfiguration) {
        let origin = transfer.head.url.origin
        // Newer versions of libcurl remember for a while that a name could not be looked up.
        if transfer.isOffline { set(CURLOPT_DNS_CACHE_TIMEOUT, 0) }
        // Always set, so that libcurl does not read the environment itself.
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
            if let answer = transfer.challenges?.sentToProxy {
                guard let login = answer.login else { return }
                // Only this scheme: libcurl would otherwise ask the proxy first, or choose a weaker one.
                set(CURLOPT_PROXYAUTH, answer.space.scheme == "digest" ? NamedProxy.digest : NamedProxy.basic)
                set(CURLOPT_PROXYUSERNAME, login.user)
                set(CURLOPT_PROXYPASSWORD, login.password)
            } else if let user = proxy.user {
                set(CURLOPT_PROXYUSERNAME, user)
                set(CURLOPT_PROXYPASSWORD, proxy.password ?? "")
            }
        } catch {
            transfer.attempt.failure = transfer.error(error.code, error.message, phase: .queue)
            note(CURLE_COULDNT_RESOLVE_PROXY)
        }
    }

    /// Marks the packets of a new connection.
    ///
    /// libcurl would let requests of different types share connections, so a task of another type than its session's
    /// has its own connection.
    private func prepareService(_ transfer: Transfer, _ configuration: SessionConfiguration) {
        let type = transfer.task.options.serviceType ?? configuration.serviceType
        // The code point is the upper six bits of the octet.
        if type != .default { note(unsafe byteclub_curl_set_traffic_class(pointer, Int32(type.codePoint << 2))) }
        if type != configuration.serviceType {
            set(CURLOPT_FRESH_CONNECT, 1)
            set(CURLOPT_FORBID_REUSE, 1)
        }
    }

    /// Sets the client certificate, only for the origin of the task's own request.
    private func prepareIdentity(_ transfer: Transfer, _ configuration: SessionConfiguration) {
        guard let certificate = configuration.clientCertificate,
            let own = try? RequestURL(transfer.task.request).origin, own == transfer.head.url.origin
        else { return }
        set(CURLOPT_SSLCERT, certificate.certificateFile)
        set(CURLOPT_SSLKEY, certificate.keyFile)
        // Without a passphrase OpenSSL would prompt on the terminal.
        set(CURLOPT_KEYPASSWD, (try? configuration.keyPassphrase?.reveal()) ?? "")
    }

    private func prepareTrust(_ configuration: SessionConfiguration) {
        // A resumed TLS session no longer has the certificates that the evaluator is asked about.
        if configuration.trustEvaluator != nil { set(CURLOPT_SSL_SESSIONID_CACHE, 0) }
        guard configuration.pinnedKeys.isEmpty else {
            // Safe without checking authorities and names: the handshake succeeds only with the owner of a pinned key,
            // and the request is sent after that. TLS 1.3 always requires a server certificate, whose absence libcurl
            // would not notice here.
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
        // Each setting replaces both system defaults; otherwise libcurl would trust the other default as well.
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
            // Without this, every upload waits a second for a server that never sends 100.
            addHeader("Expect:")
        } else if head.method == .head {
            set(CURLOPT_NOBODY, 1)
            return
        } else if head.method == .get {
            return
        }
        set(CURLOPT_CUSTOMREQUEST, head.method.rawValue)
        if (transfer.source?.length ?? 0) <= 0, !transfer.mayRepeat { set(CURLOPT_FRESH_CONNECT, 1) }
    }

    /// The body of a small POST, which libcurl sends in one packet with the head if it owns the body.
    ///
    /// Nil if the callbacks must handle the body: for a throttled one, and for one that must not be repeated after a
    /// kept connection died.
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
        // While such a transfer is paused, libcurl would buffer without limit.
        if case .stream = transfer.task.kind { return prepareStream(rate) }
        // Other requests could join an HTTP/2 connection while it is in use.
        let isApart = transfer.task.options.serviceType.map { $0 != configuration.serviceType } ?? false
        let usesOldest =
            switch configuration.httpVersion {
            case .http1: true
            case .http2: isApart
            case .automatic: isApart || rate != nil || (length != 0 && CurlLibrary.hasBusyUploads)
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

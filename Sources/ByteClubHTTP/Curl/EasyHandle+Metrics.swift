import CLibcurl

extension EasyHandle {
    /// What libcurl knows about an attempt, when it is over.
    ///
    /// libcurl 7.88 knows neither how long a request waited for its turn nor when its last byte was sent.
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

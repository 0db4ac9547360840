import ByteClubCore
import HTTPTypes

extension RemoteError {
    /// Statuses with which proxies and portals refuse, too.
    private static let refusals: Set<Int> = [401, 403, 404, 407]

    /// Reads a refusal: its status, its line for people, `Retry-After` and the request's number.
    ///
    /// One without the club's own words, which are its number or its line in JSON, comes from something between here
    /// and the club. It says nothing of the member or of a file, and may be gone at the next call: `unreachable`.
    ///
    /// - Parameters:
    ///   - response: The head of the answer.
    ///   - bytes: Its body.
    ///   - origin: Who was asked.
    init(_ response: HTTPResponse, _ bytes: [UInt8], from origin: ServiceOrigin) {
        let body = try? JSONReader.read(RefusalBody.self, from: bytes)
        let status = response.status.code
        let requestID = HTTPField.Name("X-Dropbox-Request-Id").flatMap { response.headerFields[$0] }
        if Self.refusals.contains(status), requestID == nil, body?.message == nil {
            self.init(.unreachable, "cannot reach \(origin.club): another service answers")
            return
        }
        var parameter = body?.parameter
        // Servers that name no parameter say in words that the cursor is at fault.
        if status == 400, parameter == nil, body?.message?.lowercased().contains("cursor") == true {
            parameter = "cursor"
        }
        let message = body?.message.map { Self.line($0) } ?? Self.words(for: status, origin.club)
        self.init(
            status: status, message: message, parameter: parameter,
            retryAfter: response.headerFields[.retryAfter].flatMap { Double($0) }.flatMap {
                $0.isFinite && $0 >= 0 ? $0 : nil
            },
            requestID: requestID)
        server = origin.address
    }

    /// What a refusal without a reason most likely means.
    private static func words(for status: Int, _ club: String) -> String {
        switch status {
        case 300..<400: "\(club) redirects elsewhere; check the address"
        case 413: "\(club) does not accept anything this large"
        case 429, 503: "\(club) is busy"
        case 502, 504: "the gateway in front of \(club) gets no answer from it"
        case 507: "the club's storage is full"
        case 500...: "\(club) failed"
        default: "\(club) refused without a reason"
        }
    }

    /// One line without control characters, of a bounded length.
    private static func line(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(500).map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) }
        return String(scalars)
    }
}

/// The body of a refusal: `{"error": "text"}` or `{"error": {"<parameter>": "text"}}`.
private struct RefusalBody: JSONReadable {
    var message: String?
    var parameter: String?

    init(json: inout JSONReader) throws(JSONError) {
        var (message, parameter): (String?, String?)
        try json.object { (json, name) throws(JSONError) in
            guard name == "error" else { return try json.skip() }
            if json.startsString() { return message = try json.string() }
            try json.object { (json, name) throws(JSONError) in
                let text = try json.string()
                if parameter.map({ name < $0 }) ?? true { (parameter, message) = (name, text) }
            }
        }
        (self.message, self.parameter) = (message, parameter)
    }
}

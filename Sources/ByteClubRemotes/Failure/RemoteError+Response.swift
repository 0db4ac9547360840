package import ByteClubCore
import HTTPTypes

extension RemoteError {
    /// Statuses with which proxies and portals refuse, too.
    private static let refusals: Set<Int> = [401, 403, 404, 407]

    /// Reads a refusal: its status, its line for people, `Retry-After` and the request's number.
    ///
    /// A refusal without the club's own form, which is its number or its line in JSON, is from a proxy before the club.
    /// It proves nothing about the member or a file, and may not recur: `unreachable`.
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
        try json.object { (json, name) throws(JSONError) in
            guard name == "error" else { return try json.skip() }
            if json.startsString() { return message = try json.string() }
            try json.object { (json, name) throws(JSONError) in
                let text = try json.string()
                if parameter.map({ name < $0 }) ?? true { (parameter, message) = (name, text) }
            }
        }
    }
}

extension RemoteError {
    /// Maps a refusal of Core API v1 to an error: the protocol's status table, in its one place.
    ///
    /// - Parameters:
    ///   - status: The HTTP status, from 300.
    ///   - message: The server's message.
    ///   - parameter: The parameter at fault, if the server names one.
    ///   - retryAfter: Seconds, from `Retry-After`.
    ///   - requestID: The server's name for the request.
    package init(
        status: Int, message: String, parameter: String? = nil, retryAfter: Double? = nil, requestID: String? = nil
    ) {
        let code: Code
        switch status {
        case 400: code = parameter == "cursor" ? .badCursor : .badRequest
        case 401: code = .unauthorized
        case 403: code = .forbidden
        case 404: code = .notFound
        case 406: code = .tooMany
        case 409, 412: code = .conflict
        case 410: code = .staleCursor
        case 413: code = .tooLarge
        case 415: code = .undecodable
        case 416: code = .badRequest
        case 429: code = .rateLimited
        case 503: code = retryAfter == nil ? .serverFault : .rateLimited
        case 507: code = .overQuota
        case 408, 425: code = .unreachable
        case 500...599: code = .serverFault
        default: code = .protocolViolation
        }
        self.init(code, message, retryAfter: retryAfter, requestID: requestID)
        isOfRole = status == 403 && parameter == Account.roleParameter
    }

    package static func tooLarge(_ path: RemotePath, _ limit: Int64) -> RemoteError {
        RemoteError(.tooLarge, "'\(path)' has more than \(limit) bytes")
    }
}

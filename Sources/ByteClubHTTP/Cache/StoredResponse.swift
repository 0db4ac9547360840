import HTTPTypes

/// The head of a stored response, with the request data that it depends on.
struct StoredResponse: Sendable, Equatable {
    /// A request field that the response depends on (`Vary`); the value is nil if the request lacked it.
    struct Selector: Sendable, Equatable {
        var name: String
        var value: String?
    }

    /// The URL without its fragment.
    let url: String
    let selectors: [Selector]
    var response: HTTPResponse
    /// When the request was sent, in seconds since 1970.
    var requested: Int64
    /// When the response was received, in seconds since 1970.
    var received: Int64

    /// Whether the response matches a request with these fields (RFC 9111 section 4.1).
    ///
    /// A request with further fields that may hold a secret does not match.
    func matches(_ fields: HTTPFields, publicFields: Set<HTTPField.Name> = []) -> Bool {
        guard selectors.allSatisfy({ Self.value($0.name, in: fields) == $0.value }) else { return false }
        return fields.allSatisfy { field in
            RequestHead.isPublic(field.name, publicFields)
                || selectors.contains { $0.name == field.name.canonicalName }
        }
    }

    /// The freshness lifetime in seconds, counted from the response's date (RFC 9111 section 4.2.1).
    ///
    /// If the server does not define it: a tenth of the time since the last modification, at most a day (section
    /// 4.2.2); zero for a URL with a query and for statuses that need explicit permission to be stored.
    var lifetime: Int64 {
        let fields = response.headerFields
        if let maxAge = CacheControl(fields).maxAge { return maxAge }
        if let expires = fields[.expires] {
            guard let end = HTTPDate.seconds(expires, now: received) else { return 0 }
            return max(end - date, 0)
        }
        guard Self.heuristicStatuses.contains(response.status.code), !url.contains("?"),
            let modified = fields[.lastModified].flatMap({ HTTPDate.seconds($0, now: received) })
        else { return 0 }
        return min(max(date - modified, 0) / 10, 86400)
    }

    /// The age in seconds (RFC 9111 section 4.2.3).
    func age(at now: Int64) -> Int64 {
        let apparent = max(0, received - date)
        let told = response.headerFields[.age].flatMap(CacheControl.seconds) ?? 0
        return max(apparent, told + max(received - requested, 0)) + max(now - received, 0)
    }

    /// The request fields for revalidation; empty if the response has no validator (section 4.3.1).
    var conditions: [(name: String, value: String)] {
        let fields = response.headerFields
        let all = [("If-None-Match", fields[.eTag]), ("If-Modified-Since", fields[.lastModified])]
        return all.compactMap { name, value in
            value.flatMap { HTTPField.isValidValue($0) ? (name, $0) : nil }
        }
    }

    /// The response with its current `Age`.
    func answer(at now: Int64) -> HTTPResponse {
        var answer = response
        answer.headerFields[.age] = String(age(at: now))
        return answer
    }

    /// Updates the head from a 304 (RFC 9111 sections 3.2 and 4.3.4); false if the 304 is about another representation.
    mutating func freshen(with told: HTTPResponse, requested: Int64, received: Int64) -> Bool {
        if let tag = told.headerFields[.eTag], tag != response.headerFields[.eTag] { return false }
        var fields = response.headerFields
        let news = Self.storable(told.headerFields).filter { !Self.kept.contains($0.name.canonicalName) }
        for field in news { fields[field.name] = nil }
        fields[.age] = nil
        for field in news { fields.append(field) }
        response.headerFields = fields
        self.requested = requested
        self.received = received
        return true
    }

    /// The response's date; the time of receipt if the server sent none.
    private var date: Int64 {
        response.headerFields[.date].flatMap { HTTPDate.seconds($0, now: received) } ?? received
    }

    static func value(_ name: String, in fields: HTTPFields) -> String? {
        guard let name = HTTPField.Name(name) else { return nil }
        return fields[name]
    }

    /// The fields that may be stored (RFC 9111 section 3.1).
    ///
    /// `Set-Cookie` is left to the cookie store.
    static func storable(_ fields: HTTPFields) -> HTTPFields {
        var named = hop
        for name in fields[values: .connection].joined(separator: ",").split(separator: ",") {
            named.insert(name.filter { $0 != " " && $0 != "\t" }.lowercased())
        }
        var result = fields
        result.removeAll { named.contains($0.name.canonicalName) }
        return result
    }

    private static let hop: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "set-cookie", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Fields that describe the stored body, which a 304 must not change.
    private static let kept: Set<String> = [
        "content-encoding", "content-length", "content-range", "content-type", "vary",
    ]

    /// The statuses with heuristic freshness (RFC 9110 section 15.1), except redirects and partial responses.
    static let heuristicStatuses: Set<Int> = [200, 203, 204, 404, 405, 410, 414, 501]
}

extension StoredResponse.Selector: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(name, value != nil, value ?? "") }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        let (name, isGiven, value): (String, Bool, String) = try reader.values()
        self.init(name: name, value: isGiven ? value : nil)
    }
}

extension StoredResponse: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(url, selectors, response, requested, received) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        (url, selectors, response, requested, received) = try reader.values()
        let times: ClosedRange<Int64> = 0...1 << 40
        guard times.contains(requested), times.contains(received) else { throw RecordReader.Damage() }
    }
}

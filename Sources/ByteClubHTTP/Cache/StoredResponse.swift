import HTTPTypes

/// The head of an answer that a cache keeps, and what it must remember of the request.
struct StoredResponse: Sendable, Equatable {
    /// A field that the answer depends on (`Vary`), as the request had it; nil when it had none.
    struct Selector: Sendable, Equatable {
        var name: String
        var value: String?
    }

    /// The address without its fragment.
    let url: String
    let selectors: [Selector]
    var response: HTTPResponse
    /// When the request was sent, in seconds since 1970.
    var requested: Int64
    /// When the answer came.
    var received: Int64

    /// Whether it was chosen for a request with these fields (RFC 9111 section 4.1), and none that may bear a secret
    /// beside them.
    func matches(_ fields: HTTPFields, publicFields: Set<HTTPField.Name> = []) -> Bool {
        guard selectors.allSatisfy({ Self.value($0.name, in: fields) == $0.value }) else { return false }
        return fields.allSatisfy { field in
            RequestHead.isPublic(field.name, publicFields)
                || selectors.contains { $0.name == field.name.canonicalName }
        }
    }

    /// How long it is fresh, in seconds from when the server made it (RFC 9111 section 4.2.1).
    ///
    /// Where the server does not say, a tenth of the time since it was last modified, at most a day (section 4.2.2); none
    /// for an address with a query, nor for a status that may not be kept without being asked to.
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

    /// How old it is, in seconds (RFC 9111 section 4.2.3).
    func age(at now: Int64) -> Int64 {
        let apparent = max(0, received - date)
        let told = response.headerFields[.age].flatMap(CacheControl.seconds) ?? 0
        return max(apparent, told + max(received - requested, 0)) + max(now - received, 0)
    }

    /// The fields that ask the server whether it still holds; empty where it has no validator (section 4.3.1).
    var conditions: [(name: String, value: String)] {
        let fields = response.headerFields
        let all = [("If-None-Match", fields[.eTag]), ("If-Modified-Since", fields[.lastModified])]
        return all.compactMap { name, value in
            value.flatMap { HTTPField.isValidValue($0) ? (name, $0) : nil }
        }
    }

    /// The answer as it is given to a task: with its age.
    func answer(at now: Int64) -> HTTPResponse {
        var answer = response
        answer.headerFields[.age] = String(age(at: now))
        return answer
    }

    /// Takes what a 304 says (RFC 9111 sections 3.2 and 4.3.4); false if it speaks of another answer.
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

    /// When the server made it; when it came, if the server does not say.
    private var date: Int64 {
        response.headerFields[.date].flatMap { HTTPDate.seconds($0, now: received) } ?? received
    }

    static func value(_ name: String, in fields: HTTPFields) -> String? {
        guard let name = HTTPField.Name(name) else { return nil }
        return fields[name]
    }

    /// The fields that may be kept (RFC 9111 section 3.1), and without `Set-Cookie`, which is for the cookie store.
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

    /// What a 304 does not change: it describes the body that is kept.
    private static let kept: Set<String> = [
        "content-encoding", "content-length", "content-range", "content-type", "vary",
    ]

    /// The statuses that may be kept for a time guessed (RFC 9110 section 15.1), but for redirects and parts.
    static let heuristicStatuses: Set<Int> = [200, 203, 204, 404, 405, 410, 414, 501]
}

extension StoredResponse {
    func encode(to writer: inout RecordWriter) {
        writer.put(url)
        writer.put(each: selectors) { writer, selector in
            writer.put(selector.name)
            writer.put(selector.value != nil)
            writer.put(selector.value ?? "")
        }
        writer.put(response)
        writer.put(requested)
        writer.put(received)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        url = try reader.text()
        selectors = try reader.values { reader throws(RecordReader.Damage) in
            let name = try reader.text()
            let isGiven = try reader.flag()
            let value = try reader.text()
            return Selector(name: name, value: isGiven ? value : nil)
        }
        response = try reader.value()
        requested = try reader.number()
        received = try reader.number()
        let times: ClosedRange<Int64> = 0...1 << 40
        guard times.contains(requested), times.contains(received) else { throw RecordReader.Damage() }
    }
}

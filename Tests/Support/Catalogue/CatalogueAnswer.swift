/// What a ``CatalogueServer`` answers.
struct CatalogueAnswer: Sendable {
    var status: Int
    var head: [UInt8]
    var body: [UInt8]

    /// A text; the API says that its JSON is JavaScript.
    init(_ status: Int, _ fields: [String] = [], body: String = "") {
        self.init(status, fields + ["Content-Type: text/javascript; charset=utf-8"], Array(body.utf8))
    }

    /// A file, or the part that a request asks for.
    init(_ file: CatalogueFile, _ request: RawMessage, servesRanges: Bool) {
        let fields = [
            "ETag: \(file.tag)", "Content-Type: \(file.type)", "Accept-Ranges: \(servesRanges ? "bytes" : "none")",
        ]
        if request["If-None-Match"] == file.tag {
            self.init(304, fields, [])
            return
        }
        switch servesRanges ? file.part(range: request["Range"], ifRange: request["If-Range"]) : .whole {
        case .whole: self.init(200, fields, file.bytes)
        case .range(let range):
            let said = "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.bytes.count)"
            self.init(206, fields + [said], Array(file.bytes[range]))
        case .unsatisfiable: self.init(416, ["Content-Range: bytes */\(file.bytes.count)"], [])
        }
    }

    private init(_ status: Int, _ fields: [String], _ body: [UInt8]) {
        self.status = status
        self.body = body
        let length = status == 304 ? [] : ["Content-Length: \(body.count)"]
        head =
            Array((["HTTP/1.1 \(status) X"] + fields + length).joined(separator: "\r\n").utf8) + Array("\r\n\r\n".utf8)
    }

    /// The same for HEAD.
    var withoutBody: CatalogueAnswer {
        var answer = self
        answer.body = []
        return answer
    }
}

/// The part of an address behind the question mark (application/x-www-form-urlencoded).
enum Query {
    /// The parameters; of several with one name the last.
    static func parse(_ text: String) -> [String: String] {
        text.split(separator: "&").reduce(into: [:]) { parameters, pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            parameters[decoded(parts[0])] = parts.count > 1 ? decoded(parts[1]) : ""
        }
    }

    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

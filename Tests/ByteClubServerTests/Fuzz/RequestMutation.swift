import TestSupport

@testable import ByteClubServer

/// Requests as bytes: valid ones, and what a seed makes of them.
struct RequestMutation {
    private let bearer: String
    private let cursor: String
    private var generator: SeededGenerator

    private static let operations = [
        "account/info", "metadata", "files", "files_put", "chunked_upload", "commit_chunked_upload", "thumbnails",
        "search", "delta", "delta/latest_cursor", "longpoll_delta", "revisions", "restore", "shares", "media",
        "copy_ref", "fileops/copy", "fileops/create_folder", "fileops/delete", "fileops/move", "view/1-1-1-0",
        "previews",
        "oauth/request_token", "oauth2/token", "oauth2/device_authorization", "disable",
        "sync/batch", "sync/changes", "sync/history", "sync/digest", "sync/chunks/need", "sync/chunks",
        "sync/chunks/00", "sync/links", "sync/links/revoke",
    ]
    private static let methods = [
        "GET", "GET", "GET", "POST", "POST", "PUT", "HEAD", "OPTIONS", "DELETE", "PATCH", "G",
    ]
    private static let roots = ["auto", "auto", "auto", "auto", "auto", "auto", "dropbox", "sandbox", "%00", "AUTO"]
    private static let goodNames = ["a.md", "b.jpg", "f", "F", "%C3%A9.md", "g%2Fb", "%F0%9F%8F%94", "+"]
    private static let goodParameters: [(name: String, values: [String])] = [
        ("path", ["/a.md", "/f", "f/x"]), ("from_path", ["/a.md", "/f", "/F/a.md"]),
        ("to_path", ["/g", "/f/a.md", "/h/b.jpg"]),
        ("query", ["a", "%C3%A9", "md"]), ("rev", ["100000001", "200000001", "fff00000001"]),
        ("list", ["true", "False"]),
        ("include_deleted", ["1", "true"]), ("overwrite", ["false", "True"]), ("autorename", ["0"]),
        ("offset", ["0", "5"]),
        ("include_media_info", ["true"]), ("size", ["xs", "xl"]), ("format", ["png", "JPEG"]), ("timeout", ["0"]),
        ("parent_rev", ["200000001", ""]), ("path_prefix", ["/", "/f"]), ("rev_limit", ["5"]),
        ("file_limit", ["1", "1000"]),
    ]
    private static let names = [
        "a.md", "b.jpg", "f", "F", "%C3%A9.md", "a%2Fb", "..", ".", "%", "%zz", "%ff", "+", "~a.tmp", "%20", "a%00b",
        "%F0%9F%8F%94", "x%CC%81", "",
    ]
    private static let parameters = [
        "rev", "path", "from_path", "to_path", "root", "query", "file_limit", "list", "hash", "include_deleted",
        "include_media_info", "overwrite", "parent_rev", "autorename", "upload_id", "offset", "size", "format",
        "cursor",
        "path_prefix", "timeout", "rev_limit", "from_copy_ref", "locale", "access_token", "short_url", "grant_type",
        "code", "oauth_token",
    ]
    private static let values = [
        "", "0", "1", "-1", "true", "False", "99999999999999999999", "9223372036854775807", "-9223372036854775808",
        "100000001", "fff00000001", "ffffffffffffffffffffffff", "/a.md", "/f", "f/x", "/", "xs", "png", "x", "%00",
        "%ff",
        "%C3%A9", "10000", "nan", "1e9", "%2B1", "../..", "s%F0%9F%8F%94",
    ]
    private static let fields = [
        "Range: bytes=0-1", "Range: bytes=-0", "Range: bytes=5-1", "Range: bytes=99999999999999999999-", "Range: x",
        "If-None-Match: *", "If-Range: \"x\"", "Expect: 100-continue", "Content-Type: text/plain", "Origin: x",
        "Content-Type: application/x-www-form-urlencoded", "Content-Type: multipart/form-data; boundary=b",
        "Content-Type: multipart/form-data; boundary=", "Authorization: Bearer", "Authorization: Basic Og==",
        "Authorization: OAuth oauth_version=\"1.0\"", "Cookie: byteclub=x", "Transfer-Encoding: chunked",
        "Content-Length: 5", "Content-Length: 99999999999999999999", "Content-Length: -1", "Connection: close",
        "Upgrade: h2c", "X: \u{1}", "Accept-Encoding: gzip", "Access-Control-Request-Method: PUT",
    ]

    /// Makes requests of a member, from a seed.
    init(bearer: String, cursor: String, seed: UInt64) {
        self.bearer = bearer
        self.cursor = cursor
        generator = SeededGenerator(seed: seed)
    }

    /// The bytes of a connection's requests: mostly one, sometimes several, sometimes none that a server could read.
    mutating func next() -> [UInt8] {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0: return noise(Int.random(in: 0...600, using: &generator))
        case 1: return (0..<Int.random(in: 2...6, using: &generator)).flatMap { _ in request() }
        case 2...7: return damaged(request())
        case 8:
            let whole = request()
            return Array(whole.prefix(Int.random(in: 0...whole.count, using: &generator)))
        default: return request()
        }
    }

    private mutating func request() -> [UInt8] {
        let body = body()
        var lines = [line(), "Host: x"]
        if chance(9) { lines.append(bearer) }
        while chance(2) { lines.append(pick(Self.fields)) }
        if chance(9) || !body.isEmpty {
            let off = chance(1) ? Int.random(in: -9...9, using: &generator) : 0
            lines.append("Content-Length: \(max(0, body.count + off))")
        }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    private mutating func line() -> String {
        if chance(5) { return goodLine() + " HTTP/1.1" }
        var target = "/1/" + pick(Self.operations)
        if chance(8) { target += "/" + pick(Self.roots) }
        while chance(5) { target += "/" + pick(chance(8) ? Self.goodNames : Self.names) }
        if chance(1) {
            target = pick(
                Endpoint.all.filter(\.isPage).map(\.name) + ["/s/x/y", "/invite/x", "*", "http://x/1/delta", "//"])
        }
        if chance(7) { target += "?" + form() }
        return "\(pick(Self.methods)) \(target) HTTP/1.1"
    }

    private mutating func goodLine() -> String {
        let name = pick(Self.goodNames)
        let other = pick(Self.goodNames)
        return switch Int.random(in: 0..<23, using: &generator) {
        case 0, 1: "PUT /1/files_put/auto/\(name)?overwrite=\(chance(5))"
        case 2: "PUT /1/files_put/auto/f/\(name)?autorename=\(chance(5))&overwrite=false"
        case 3: "PUT /1/chunked_upload"
        case 4: "POST /1/fileops/create_folder?path=/f/\(name)/\(other)"
        case 5: "POST /1/fileops/copy?from_path=/\(name)&to_path=/f/\(other)"
        case 6: "POST /1/fileops/move?from_path=/f/\(name)&to_path=/\(other)"
        case 7: "POST /1/fileops/delete?path=/\(name)"
        case 8: "GET /1/metadata/auto/\(chance(5) ? "" : name)?\(form())"
        case 9: "GET /1/files/auto/\(name)"
        case 10: "GET /1/search/auto?query=\(name.prefix(1))&include_deleted=\(chance(5))"
        case 11: "POST /1/delta?cursor=\(cursor)"
        case 12: "GET /1/longpoll_delta?timeout=0&cursor=\(cursor)"
        case 13: "GET /1/revisions/auto/\(name)"
        case 14: "POST /1/\(pick(["shares", "media", "copy_ref"]))/auto/\(name)"
        case 15: "GET /1/thumbnails/auto/b.jpg?size=\(pick(["xs", "l"]))"
        case 16: "GET /1/sync/changes?limit=\(pick(["1", "9"]))&bodies=\(chance(5))"
        case 17: "GET /1/sync/digest?path=/"
        case 18, 19: "POST /1/sync/batch"
        case 20: "GET /1/sync/links"
        case 21: "POST /1/sync/links/revoke?id=\(Int.random(in: 0...20, using: &generator))"
        default: "POST /1/files/auto/f"
        }
    }

    private mutating func form() -> String {
        (0..<Int.random(in: 0...4, using: &generator)).map { _ in
            if chance(7), let (name, values) = Self.goodParameters.randomElement(using: &generator) {
                return name + "=" + pick(values)
            }
            let name = pick(Self.parameters)
            return name + "=" + (name == "cursor" && chance(8) ? cursor : pick(Self.values))
        }.joined(separator: "&")
    }

    private mutating func body() -> [UInt8] {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return Array(form().utf8)
        case 4, 5: return batch()
        case 1: return noise(Int.random(in: 0...200, using: &generator))
        case 2: return noise(Int.random(in: 60_000...70_000, using: &generator))
        case 3:
            let head = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(pick(Self.names))\"\r\n\r\n"
            return Array(head.utf8) + noise(20) + Array("\r\n--b--\r\n".utf8)
        default: return []
        }
    }

    /// A frame for `sync/batch`.
    private mutating func batch() -> [UInt8] {
        let operations = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            let members = ["\"id\":", "\"parent\":", "\"parent_op\":", "\"bytes\":", "\"rev\":", "\"seen\":"]
                .filter { _ in Bool.random(using: &generator) }
                .map { $0 + pick(["0", "1", "2", "5", "-1", "9007199254740993", "1e3", "null", "\"x\""]) }
            let name = pick([
                "a.md", "F", "..", "", "x\\u0000", "\\ud83c\\udfd4", "n\(Int.random(in: 0...99, using: &generator))",
            ])
            return "{"
                + ([
                    "\"op\":\"\(pick(["put", "folder", "move", "delete", "no"]))\"", "\"name\":\"\(name)\"",
                    "\"op_id\":\"\(UInt32.random(in: 0...999, using: &generator))\"",
                ] + members).joined(separator: ",") + "}"
        }
        return Array("{\"operations\":[\(operations.joined(separator: ","))]}\nabcdefgh".utf8)
    }

    private mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: 0..<min(bytes.count, 400), using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(contentsOf: bytes[place...].prefix(30), at: place)
            default: bytes.insert(UInt8.random(in: .min ... .max, using: &generator), at: place)
            }
        }
        return bytes
    }

    private mutating func noise(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    private mutating func pick(_ choices: [String]) -> String { choices.randomElement(using: &generator) ?? "" }

    /// True in so many of ten cases.
    private mutating func chance(_ tenths: Int) -> Bool { Int.random(in: 0..<10, using: &generator) < tenths }
}

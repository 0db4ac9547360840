import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubHTTP

@Suite struct ResumePlanTests {
    private static func fields(_ pairs: [String]) -> HTTPFields {
        var fields = HTTPFields()
        for pair in pairs {
            let parts = pair.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else { continue }
            fields.append(HTTPField(name: name, value: String(parts[1].drop { $0 == " " })))
        }
        return fields
    }

    private static func response(_ status: Int, _ pairs: [String]) -> HTTPResponse {
        HTTPResponse(status: .init(code: status), headerFields: fields(pairs))
    }

    /// The expected meaning of a response in a table.
    enum Meaning: Equatable, Sendable { case append(Int64), startOver, done, askAnew, refuse, pass }

    private static func meaning(_ step: ResumePlan.Step) -> Meaning {
        switch step {
        case .append(let total): .append(total)
        case .startOver: .startOver
        case .done: .done
        case .askAnew: .askAnew
        case .refuse: .refuse
        case .pass: .pass
        }
    }

    private static let tag = #"ETag: "v1""#
    private static let rest = "Content-Range: bytes 100-299/300"

    @Test(
        "what a response means for a hundred bytes of three hundred",
        arguments: [
            (206, [tag, rest], Meaning.append(300)), (206, [tag, rest, "Content-Length: 200"], .append(300)),
            (206, [tag, "Content-Range: Bytes 100-199/300"], .append(300)),
            (206, [tag, "Content-Range: bytes 100-299/*"], .append(300)),
            (206, [tag, rest, "Content-Encoding: identity"], .append(300)),
            (206, [tag, rest, "Content-Length: 201"], .askAnew), (206, [tag, rest, "Content-Length: x"], .askAnew),
            (206, [tag, "Content-Range: bytes 101-299/300"], .askAnew),
            (206, [tag, "Content-Range: bytes 99-299/300"], .askAnew),
            (206, [tag, "Content-Range: bytes 100-300/301"], .askAnew),
            (206, [tag, "Content-Range: bytes 100-250/251"], .askAnew),
            (206, [tag, "Content-Range: bytes 100-300/300"], .askAnew),
            (206, [tag, "Content-Range: bytes 100-300/*"], .askAnew),
            (206, [tag, "Content-Range: bytes 100-/300"], .askAnew),
            (206, [tag, "Content-Range: bytes 299-100/300"], .askAnew),
            (206, [tag, "Content-Range: bytes=100-299/300"], .askAnew),
            (206, [tag, "Content-Range: items 100-299/300"], .askAnew),
            (206, [tag, "Content-Range: bytes +100-299/300"], .askAnew),
            (206, [tag, "Content-Range: bytes */300"], .askAnew), (206, [tag], .askAnew),
            (206, [tag, rest, rest], .askAnew), (206, [rest], .askAnew),
            (206, [#"ETag: W/"v1""#, rest], .askAnew), (206, [#"ETag: "v2""#, rest], .askAnew),
            (206, ["ETag: v1", rest], .askAnew), (206, [tag, tag, rest], .askAnew),
            (206, [tag, rest, "Content-Encoding: gzip"], .askAnew),
            (206, [tag, "Content-Range: bytes 0-299/300"], .startOver),
            (206, [#"ETag: "v2""#, "Content-Range: bytes 0-399/400"], .startOver),
            (206, [tag, "Content-Range: bytes 0-299/*"], .askAnew),
            (206, [tag, "Content-Type: multipart/byteranges; boundary=x"], .refuse),
            (206, [tag, rest, "Content-Type: Multipart/ByteRanges; boundary=x"], .refuse),
            (200, [tag], .startOver), (200, [#"ETag: "v2""#], .startOver), (203, [], .startOver),
            (416, ["Content-Range: bytes */100"], .askAnew), (416, [], .askAnew),
            (416, ["Content-Range: bytes */300"], .askAnew), (416, ["Content-Range: bytes 0-99/100"], .askAnew),
            (302, ["Location: /b"], .pass), (304, [], .pass), (401, [], .pass), (403, [rest], .pass), (503, [], .pass),
        ])
    func continuing(status: Int, pairs: [String], expected: Meaning) throws {
        let part = ResumePlan.Part(count: 100, total: 300, validator: try #require(Validator(tag: #""v1""#)))
        #expect(Self.meaning(ResumePlan.step(part, Self.response(status, pairs))) == expected)
    }

    @Test(
        "what a response means for a hundred bytes of nobody knows how many",
        arguments: [
            (206, [tag, rest], Meaning.append(300)), (206, [tag, "Content-Range: bytes 100-299/*"], .askAnew),
            (416, ["Content-Range: bytes */100"], .done), (416, [tag, "Content-Range: bytes */100"], .done),
            (416, [#"ETag: "v2""#, "Content-Range: bytes */100"], .askAnew),
            (416, ["Content-Range: bytes */99"], .askAnew), (200, [], .startOver),
        ])
    func unknownTotal(status: Int, pairs: [String], expected: Meaning) throws {
        let part = ResumePlan.Part(count: 100, total: nil, validator: try #require(Validator(tag: #""v1""#)))
        #expect(Self.meaning(ResumePlan.step(part, Self.response(status, pairs))) == expected)
    }

    @Test(
        "what a response means where nothing is there",
        arguments: [
            (200, [], Meaning.startOver), (201, [], .startOver), (206, [rest], .refuse), (206, [], .refuse),
            (206, ["Content-Range: bytes 0-99/300"], .startOver), (206, ["Content-Range: bytes 0-99/*"], .refuse),
            (416, ["Content-Range: bytes */0"], .pass), (302, [], .pass), (404, [], .pass),
        ])
    func fresh(status: Int, pairs: [String], expected: Meaning) {
        #expect(Self.meaning(ResumePlan.step(Self.response(status, pairs))) == expected)
    }

    private static let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT"
    private static let old = "Last-Modified: Sun, 06 Nov 1994 08:48:37 GMT"

    @Test(
        "which responses can be continued, and on what condition",
        arguments: [
            (200, [tag], #""v1""#), (200, [tag, old, date], #""v1""#), (200, [tag, "Accept-Ranges: bytes"], #""v1""#),
            (200, [old, date], "Sun, 06 Nov 1994 08:48:37 GMT"),
            (200, [tag, "Content-Encoding: identity"], #""v1""#), (200, [#"ETag: """#], #""""#),
            (206, [tag, "Content-Range: bytes 0-299/300"], #""v1""#),
            (200, ["Last-Modified: Sun, 06 Nov 1994 08:48:38 GMT", date], nil), (200, [old], nil), (200, [date], nil),
            (200, ["Last-Modified: yesterday", date], nil), (200, [#"ETag: W/"v1""#, old, date], nil),
            (200, ["ETag: v1"], nil), (200, [#"ETag: "a"b""#], nil), (200, [#"ETag: ""#], nil), (200, [], nil),
            (200, [tag, "Accept-Ranges: none"], nil), (200, [tag, "Content-Encoding: gzip"], nil), (203, [tag], nil),
            (206, [tag], nil),
        ] as [(Int, [String], String?)])
    func validators(status: Int, pairs: [String], expected: String?) {
        #expect(Representation(Self.response(status, pairs)).validator?.text == expected)
    }

    @Test("a file that came in parts has the response of the whole")
    func whole() {
        let first = Representation(Self.response(200, [Self.tag, "Content-Length: 300", "X-A: 1", "X-B: 1"]))
        let last = Self.response(206, [Self.tag, Self.rest, "Content-Length: 200", "X-B: 2"])
        let whole = first.whole(last)
        #expect(whole.status == .ok)
        let names = whole.headerFields.map { "\($0.name)=\($0.value)" }.sorted()
        #expect(names == ["Content-Length=300", #"ETag="v1""#, "X-A=1", "X-B=2"])
    }

    /// A server whose file changes, which is cut off at any byte, and answers as it likes, but truly.
    private struct Whim {
        var random: SeededGenerator
        var version = 0

        func content(_ version: Int) -> [UInt8] {
            (0..<(40 + version * 7 % 30)).map { UInt8(truncatingIfNeeded: $0 + version * 31) }
        }

        mutating func answer(_ part: ResumePlan.Part?) -> (response: HTTPResponse, body: ArraySlice<UInt8>) {
            if Int.random(in: 0..<4, using: &random) == 0 { version += 1 }
            let bytes = content(version)
            let count = Int64(bytes.count)
            let tag = #"ETag: "\#(version)""#
            guard let part else { return (response(200, [tag, "Content-Length: \(count)"]), cut(bytes[...])) }
            let isSame = part.validator.text == #""\#(version)""#
            var start = part.count
            switch Int.random(in: 0..<8, using: &random) {
            case 0: return (response(200, [tag, "Content-Length: \(count)"]), cut(bytes[...]))
            case 1: start = Int64.random(in: 0..<count, using: &random)
            case 2: return (response(503, []), [])
            // The rule is broken here: a part although the file is another one.
            case 3: break
            case 4: return (response(206, [tag, "Content-Type: multipart/byteranges; boundary=a"]), bytes[...])
            default:
                if !isSame { return (response(200, [tag, "Content-Length: \(count)"]), cut(bytes[...])) }
            }
            guard start < count else { return (response(416, ["Content-Range: bytes */\(count)"]), []) }
            let end = Int64.random(in: start..<count, using: &random)
            let range = "Content-Range: bytes \(start)-\(end)/\(Bool.random(using: &random) ? "\(count)" : "*")"
            return (response(206, [tag, range]), cut(bytes[Int(start)...Int(end)]))
        }

        private mutating func cut(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            Bool.random(using: &random) ? bytes : bytes.prefix(Int.random(in: 0...bytes.count, using: &random))
        }

        private func response(_ status: Int, _ pairs: [String]) -> HTTPResponse {
            ResumePlanTests.response(status, pairs)
        }
    }

    @Test("whatever a truthful server does, a whole file is one version of it")
    func property() {
        var ended = 0
        for seed in 0..<4000 as Range<UInt64> {
            var server = Whim(random: SeededGenerator(seed: seed))
            var held: [UInt8] = []
            var known: Representation?
            for _ in 0..<60 {
                var part: ResumePlan.Part?
                if let known, let validator = known.validator, !held.isEmpty {
                    part = ResumePlan.Part(count: Int64(held.count), total: known.total, validator: validator)
                }
                if part == nil { (held, known) = ([], nil) }
                let (response, body) = server.answer(part)
                var isDone = false
                switch part.map({ ResumePlan.step($0, response) }) ?? ResumePlan.step(response) {
                case .append(let total):
                    known?.total = total
                    held += body
                case .startOver:
                    known = Representation(response)
                    held = Array(body)
                case .done: isDone = true
                case .askAnew, .refuse: (held, known) = ([], nil)
                case .pass: continue
                }
                guard let known, isDone || known.total == Int64(held.count) else { continue }
                let versions = (0...server.version).map { server.content($0) }
                #expect(versions.contains(held), "seed \(seed)")
                ended += 1
                break
            }
        }
        #expect(ended > 3900, "most downloads have to end for this test to mean anything")
    }
}

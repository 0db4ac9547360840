import HTTPTypes
import Testing

@testable import ByteClubHTTP

struct ResponseParserTests {
    private func parse(_ lines: [String]) -> (response: HTTPResponse?, isHTTP: Bool) {
        var parser = ResponseParser()
        var isHTTP = true
        for line in lines {
            let bytes = Array((line + "\r\n").utf8)
            isHTTP = unsafe bytes.withUnsafeBytes { unsafe parser.consume($0) } && isHTTP
        }
        return (parser.response, isHTTP)
    }

    @Test("the final response counts, not the informational ones before it nor the trailers behind it")
    func blocks() {
        let (response, _) = parse([
            "HTTP/1.1 100 Continue", "X: 1", "", "HTTP/1.1 404 Not Found", "ETag:  \"a\" ", "Set-Cookie: a",
            "set-cookie: b", "",
            "X-Trailer: 1",
        ])
        #expect(response?.status.code == 404)
        #expect(response?.status.reasonPhrase == "Not Found")
        #expect(response?.headerFields[.eTag] == "\"a\"")
        #expect(response?.headerFields[values: .setCookie] == ["a", "b"])
        #expect(response?.headerFields.count == 3)
    }

    @Test("HTTP/2 has no reason, and nonsense between the fields is left out")
    func lenient() {
        let (response, isHTTP) = parse(["HTTP/2 204", "no colon", ": empty", "a b: c", "D:", ""])
        #expect(isHTTP && response?.status.code == 204)
        #expect(response?.headerFields.count == 1)
    }

    @Test(
        "what begins with no status line is not HTTP",
        arguments: ["SSH-2.0-x", "HTTP/1.1 2x0 OK", "HTTP/1.1 99", "HTTP/1.1 099 X"])
    func nonsense(line: String) { #expect(!parse([line]).isHTTP) }
}

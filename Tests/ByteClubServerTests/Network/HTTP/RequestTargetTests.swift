import ByteClubCore
import Testing

@testable import ByteClubServer

@Suite struct RequestTargetTests {
    @Test("repeated and trailing slashes do not count, and an escaped slash is one")
    func slashes() throws {
        let target = try RequestTarget("/1/commit_chunked_upload//auto/Notes%2FTrip+1.md/?a=b?c")
        #expect(target.components == ["1", "commit_chunked_upload", "auto", "Notes", "Trip+1.md"])
        #expect(target.query == "a=b?c")
    }

    @Test("an absolute URL names the same as its path")
    func absolute() throws {
        #expect(try RequestTarget("http://host:1/1/delta?x").components == ["1", "delta"])
        #expect(try RequestTarget("http://host").components.isEmpty)
    }

    @Test(
        "dots stay what they are", arguments: ["/1/files/auto/../x", "/1/files/auto/%2e%2e/x", "/1/files/auto/..%2Fx"])
    func dots(text: String) throws {
        #expect(try RequestTarget(text).components == ["1", "files", "auto", "..", "x"])
    }

    @Test(
        "a target that is malformed or too long is refused",
        arguments: ["/%", "/%C3", "/%ff", "/" + String(repeating: "a", count: 20_000)])
    func malformed(text: String) {
        #expect { try RequestTarget(text) } throws: { ($0 as? APIError)?.status == 400 }
    }

    @Test("the log sees the path without its query, printable")
    func loggable() {
        #expect(RequestTarget.loggable("/1/delta?access_token=secret") == "/1/delta")
        #expect(RequestTarget.loggable("/a\u{1B}[31m b") == "/a_[31m_b")
        let secret = String(repeating: "0123456789abcdef", count: 2)
        #expect(RequestTarget.loggable("/s/\(secret)/a") == "/s/_")
        #expect(RequestTarget.loggable("/s/\(secret)ff") == "/s/_")
    }
}

import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct ConditionalReadTests {
    @Test("a version's rev is its tag: a client that has it is answered 304 without a body")
    func notModified() async throws {
        try await TestServer.run { server in
            let rev = try #require(try await server.store("/a.md", "one").rev)
            let answer = try await server.get("/1/files/auto/a.md")
            let tag = "\"\(rev)\""
            #expect(answer["ETag"] == tag)
            func read(_ method: String, _ fields: String...) async throws -> RawMessage {
                try await server.send("\(method) /1/files/auto/a.md", [server.bearer] + fields)
            }
            for value in [tag, "W/" + tag, "*", "\"x\", \(tag)"] {
                let same = try await read("GET", "If-None-Match: \(value)")
                #expect(same.status == 304 && same.body.isEmpty && same["ETag"] == tag, "\(value)")
            }
            #expect(try await read("HEAD", "If-None-Match: \(tag)").status == 304)
            for value in ["\"x\"", "\(rev)", ""] {
                #expect(try await read("GET", "If-None-Match: \(value)").text == "one", "\(value)")
            }
            try await server.store("/a.md", "two")
            #expect(try await read("GET", "If-None-Match: \(tag)").text == "two")
            let part = try await read("GET", "Range: bytes=1-", "If-Range: \(tag)")
            #expect(part.status == 200 && part.text == "two", "a part of another version is of no use")
            let current = try #require(try await read("HEAD")["ETag"])
            #expect(try await read("GET", "Range: bytes=1-", "If-Range: \(current)").text == "wo")
        }
    }
}

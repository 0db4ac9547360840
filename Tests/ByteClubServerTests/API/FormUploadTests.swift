import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct FormUploadTests {
    private static func form(_ name: String, _ content: [UInt8], field: String = "file", end: String = "--") -> [UInt8]
    {
        let head =
            "--xYz\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nskipped\r\n--xYz\r\n"
            + "Content-Type: text/plain\r\nContent-Disposition: form-data; name=\"\(field)\"; filename=\"\(name)\"\r\n\r\n"
        return Array(head.utf8) + content + Array("\r\n--xYz\(end)\r\n".utf8)
    }

    @Test("a form's file is stored in the folder of the URL under its own name", arguments: [0, 20, 300_000])
    func stored(count: Int) async throws {
        try await TestServer.run { server in
            let content = (0..<count).map { $0 % 7 == 0 ? 13 : $0 % 11 == 0 ? 10 : UInt8(truncatingIfNeeded: $0) }
            let fields = [server.bearer, "Content-Type: multipart/form-data; boundary=\"xYz\""]
            let answer = try await server.send(
                "POST /1/files/auto/Notes", fields, body: Self.form("Trip \\\"1\\\".md", content))
            #expect(try answer.decoded(Metadata.self).path.string == "/Notes/Trip \"1\".md")
            #expect(try await server.get("/1/files/auto/Notes/Trip%20%221%22.md").body == content)
        }
    }

    @Test("a form without a file, a bad name, a missing end and a stale rev are refused, and nothing is stored")
    func refused() async throws {
        try await TestServer.run { server in
            func post(_ query: String, _ body: [UInt8], type: String = "multipart/form-data; boundary=xYz") async throws
                -> Int
            {
                try await server.send(
                    "POST /1/files/auto/n\(query)", [server.bearer, "Content-Type: \(type)"], body: body
                )
                .status
            }
            #expect(try await post("", Self.form("a.md", [1], field: "other")) == 400)
            #expect(try await post("", Self.form("../a.md", [1])) == 400)
            #expect(try await post("", Self.form("Thumbs.db", [1])) == 400)
            #expect(try await post("", Self.form("a.md", [1], end: "")) == 400)
            #expect(try await post("", Self.form("a.md", [1]), type: "text/plain") == 400)
            #expect(try await post("?parent_rev=fff00000001", Self.form("a.md", [1])) == 404)
            let folder = try await server.get("/1/metadata/auto/n")
            #expect(folder.status == 404)
        }
    }
}

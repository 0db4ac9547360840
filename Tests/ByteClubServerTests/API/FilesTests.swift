import ByteClubCore
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct FilesTests {
    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    @Test("bytes come back with their type, length and metadata in ASCII, small or large", arguments: [0, 5, 300_000])
    func whole(count: Int) async throws {
        try await TestServer.run { server in
            let content = Self.bytes(count)
            let stored = try await server.send("PUT /1/files_put/auto/caf%C3%A9.md", body: content)
            #expect(stored.status == 200)
            #expect(try stored.decoded(Metadata.self).contentHash == ContentHasher.hash(content))
            let answer = try await server.get("/1/files/auto/caf%C3%A9.md")
            #expect(answer.status == 200 && answer.body == content)
            #expect(answer["Content-Type"] == "text/markdown; charset=UTF-8")
            #expect(answer["Content-Length"] == "\(count)")
            #expect(answer["Accept-Ranges"] == "bytes")
            let header = try #require(answer["X-Dropbox-Metadata"])
            #expect(header.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
            let told = try JSONReader.read(Metadata.self, from: Array(header.utf8))
            #expect(try told == stored.decoded())
            let head = try await server.send("HEAD /1/files/auto/caf%C3%A9.md")
            #expect(head.status == 200 && head.body.isEmpty && head["Content-Length"] == "\(count)")
            #expect(head["X-Dropbox-Metadata"] == header)
        }
    }

    @Test("a range is answered with 206 and just those bytes", arguments: [10, 300_000])
    func ranges(count: Int) async throws {
        try await TestServer.run { server in
            let content = Self.bytes(count)
            _ = try await server.send("PUT /1/files_put/auto/a.jpg", body: content)
            func range(_ value: String) async throws -> RawMessage {
                try await server.send("GET /1/files/auto/a.jpg", [server.bearer, "Range: \(value)"])
            }
            for (value, expected) in [
                ("bytes=2-5", 2..<6), ("bytes=0-", 0..<count), ("bytes=-3", count - 3..<count),
                ("bytes=\(count - 1)-999999999", count - 1..<count),
            ] {
                let answer = try await range(value)
                #expect(answer.status == 206 && answer.body == Array(content[expected]))
                #expect(answer["Content-Range"] == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/\(count)")
                #expect(answer["Content-Type"] == "image/jpeg")
                #expect(answer["X-Dropbox-Metadata"]?.contains("\"bytes\":\(count)") == true)
            }
            let several = try await range("bytes=0-1,3-4")
            #expect(several.status == 200 && several.body == content)
            let beyond = try await range("bytes=\(count)-")
            #expect(beyond.status == 416 && beyond["Content-Range"] == "bytes */\(count)")
        }
    }

    @Test("an old version is had by its rev; what is missing, deleted or a folder is 404")
    func versions() async throws {
        try await TestServer.run { server in
            let rev = try #require(try await server.store("/n/a.md", "one").rev)
            try await server.store("/n/a.md", "two")
            #expect(try await server.get("/1/files/auto/n/a.md?rev=\(rev)").text == "one")
            #expect(try await server.get("/1/files/auto/n/A.MD").text == "two")
            #expect(try await server.get("/1/files/auto/n/a.md?rev=x").status == 400)
            #expect(try await server.get("/1/files/auto/n/a.md?rev=fff00000001").status == 404)
            for path in ["/n", "", "/none"] { #expect(try await server.get("/1/files/auto\(path)").status == 404) }
            #expect(try await server.post("/1/fileops/delete", "path=/n/a.md").status == 200)
            #expect(try await server.get("/1/files/auto/n/a.md").status == 404)
            #expect(try await server.get("/1/files/auto/n/a.md?rev=\(rev)").text == "one")
        }
    }

    @Test("thumbnails fit their box, and what has none is 404 or 415")
    func thumbnails() async throws {
        try await TestServer.run { server in
            let photo = Fixture.bytes("panoramas/city.jpg")
            _ = try await server.send("PUT /1/files_put/auto/city.jpg", body: photo)
            let small = try await server.get("/1/thumbnails/auto/city.jpg?size=xs")
            #expect(
                small.status == 200 && small["Content-Type"] == "image/jpeg" && small.body.starts(with: [0xFF, 0xD8]))
            let large = try await server.get("/1/thumbnails/auto/city.jpg?size=l&format=JPEG")
            #expect(large.body.count > small.body.count)
            #expect(large["X-Dropbox-Metadata"]?.contains("city.jpg") == true)
            #expect(try await server.get("/1/thumbnails/auto/city.jpg?size=l").body == large.body)
            let png = try await server.get("/1/thumbnails/auto/city.jpg?format=png")
            #expect(png["Content-Type"] == "image/png" && png.body.starts(with: [0x89, 0x50, 0x4E, 0x47]))
            try await server.store("/fake.jpg", "not a photo")
            try await server.store("/a.md")
            for (target, status) in [
                ("/fake.jpg", 415), ("/a.md", 404), ("/none.jpg", 404), ("", 404), ("/city.jpg?size=xxl", 400),
                ("/city.jpg?format=gif", 400),
            ] {
                #expect(try await server.get("/1/thumbnails/auto\(target)").status == status, "\(target)")
            }
        }
    }
}

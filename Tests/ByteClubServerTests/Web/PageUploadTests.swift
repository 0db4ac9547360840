import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

/// Large files that the gallery's page uploads in pieces.
@Suite struct PageUploadTests {
    /// A member's open gallery.
    private struct Page {
        let server: TestServer
        let cookie: String
        let token: String

        init(_ server: TestServer, _ name: String = "Ann Bell", _ role: Role? = nil) async throws {
            var browser = try await GalleryTests.browser(server, name, role)
            try await browser.open(role == .viewer ? "/account" : "/gallery")
            self.server = server
            cookie = try #require(browser.cookie)
            token = String(try #require(browser.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)).1)
        }

        func piece(_ bytes: [UInt8], of id: String?, at offset: Int, token: String? = nil) async throws -> RawMessage {
            let query = id.map { "id=\($0)&offset=\(offset)" } ?? "offset=\(offset)"
            return try await server.send(
                "POST /gallery/upload/piece?\(query)",
                [
                    "Cookie: \(cookie)", "X-Form-Token: \(token ?? self.token)",
                    "Content-Type: application/octet-stream",
                ],
                body: bytes)
        }

        func commit(_ id: String, _ name: String, token: String? = nil) async throws -> RawMessage {
            let form = "csrf=\(token ?? self.token)&id=\(id)&name=\(PercentEncoding.encode(name))"
            return try await server.send(
                "POST /gallery/upload/commit",
                ["Cookie: \(cookie)", "Content-Type: application/x-www-form-urlencoded"], body: Array(form.utf8))
        }
    }

    private static func state(_ answer: RawMessage) throws -> ChunkedUpload { try JSONReader.read(from: answer.body) }

    private let photo = Fixture.bytes("panoramas/portrait.jpg")

    @Test("a photo that comes in pieces is stored under a free name, with its bytes")
    func pieces() async throws {
        try await TestServer.run { server in
            let page = try await Page(server)
            for path in ["/byteclub/photos/ridge.jpg", "/byteclub/photos/ridge (1).jpg"] {
                let first = try Self.state(await page.piece(Array(photo.prefix(1_000)), of: nil, at: 0))
                #expect(first.offset == 1_000)
                let rest = Array(photo.dropFirst(1_000))
                let second = try Self.state(await page.piece(rest, of: first.uploadID, at: 1_000))
                #expect(second.offset == Int64(photo.count))
                let stored = try await page.commit(first.uploadID, "ridge.jpg")
                #expect(stored.status == 200 && stored.text == path)
                #expect(
                    try await server.get("/1/files/auto" + path.split(separator: " ").joined(separator: "%20")).body
                        == photo)
            }
        }
    }

    @Test("a page that lost its network, or is another one by now, is told where the upload stands")
    func goesOn() async throws {
        try await TestServer.run { server in
            let first = try Self.state(await Page(server).piece(Array(photo.prefix(1_000)), of: nil, at: 0))
            let page = try await Page(server)
            let misplaced = try await page.piece(Array(photo.prefix(500)), of: first.uploadID, at: 0)
            #expect(misplaced.status == 409)
            #expect(try Self.state(misplaced).offset == 1_000)
            #expect(try await page.piece(Array(photo.dropFirst(1_000)), of: first.uploadID, at: 1_000).status == 200)
            #expect(try await page.commit(first.uploadID, "a.jpg").text == "/byteclub/photos/a.jpg")
            #expect(try await server.get("/1/files/auto/byteclub/photos/a.jpg").body == photo)
        }
    }

    @Test("a commit that is asked for again stores nothing twice")
    func again() async throws {
        try await TestServer.run { server in
            let page = try await Page(server)
            let id = try Self.state(await page.piece(photo, of: nil, at: 0)).uploadID
            for _ in 0..<2 { #expect(try await page.commit(id, "a.jpg").status == 200) }
            #expect(try await page.piece([1], of: id, at: photo.count).status == 400)
            let folder = try await server.get("/1/metadata/auto/byteclub/photos").text
            #expect(folder.contains("a.jpg") && !folder.contains("a (1).jpg"))
        }
    }

    @Test("pieces of others, forms of other sites, viewers and what is no photo are refused in words")
    func refused() async throws {
        try await TestServer.run { server in
            let (ann, ben) = (try await Page(server), try await Page(server, "Ben", .editor))
            let vera = try await Page(server, "Vera", .viewer)
            let id = try Self.state(await ann.piece(photo, of: nil, at: 0)).uploadID
            let forged = String(repeating: "0", count: 64)
            for (answer, status) in [
                (try await ben.piece([1], of: id, at: photo.count), 404), (try await ben.commit(id, "a.jpg"), 404),
                (try await ann.piece([1], of: "none", at: 0), 404), (try await ann.commit("none", "a.jpg"), 404),
                (try await ann.piece([1], of: id, at: photo.count, token: forged), 403),
                (try await ann.commit(id, "a.jpg", token: forged), 403),
                (try await vera.piece([1], of: nil, at: 0), 403), (try await vera.commit(id, "a.jpg"), 403),
                (try await ann.commit(id, "a.exe"), 415), (try await ann.commit(id, ""), 415),
            ] {
                #expect(answer.status == status && !answer.text.isEmpty, "\(answer.start) \(answer.text)")
            }
            #expect(try await ann.commit(id, "a.jpg").status == 200)
        }
    }
}

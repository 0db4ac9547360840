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

        /// Asks where an upload stands, or begins one without an identifier.
        func ask(_ id: String?) async throws -> RawMessage { try await piece([], of: id, at: 0) }

        /// Sends the beginning of a piece, and breaks the connection.
        func brokenPiece(_ bytes: [UInt8], of length: Int, of id: String, at offset: Int) async {
            let lines = [
                "POST /gallery/upload/piece?id=\(id)&offset=\(offset) HTTP/1.1", "Host: 127.0.0.1:\(server.port)",
                "Cookie: \(cookie)", "X-Form-Token: \(token)", "Content-Length: \(length)", "", "",
            ]
            let (message, port) = (Array(lines.joined(separator: "\r\n").utf8) + bytes, server.port)
            await BackgroundThread.run { _ = RawConnection(port: port)?.send(message) }
        }

        func commit(
            _ id: String, _ name: String, hash: ContentHash? = nil, token: String? = nil
        ) async throws -> RawMessage {
            let form =
                "csrf=\(token ?? self.token)&id=\(id)&name=\(PercentEncoding.encode(name))"
                + (hash.map { "&hash=\($0)" } ?? "")
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

    @Test("an empty piece begins an upload, and tells its member where it stands")
    func asks() async throws {
        try await TestServer.run { server in
            let (page, ben) = (try await Page(server), try await Page(server, "Ben", .editor))
            let begun = try Self.state(await page.ask(nil))
            #expect(begun.offset == 0)
            #expect(try Self.state(await page.ask(begun.uploadID)).offset == 0)
            #expect(try await page.piece(Array(photo.prefix(700)), of: begun.uploadID, at: 0).status == 200)
            let answer = try await page.ask(begun.uploadID)
            #expect(answer.status == 409)
            #expect(try Self.state(answer).offset == 700)
            let stranger = try await ben.ask(begun.uploadID)
            #expect(stranger.status == 404 && !stranger.text.contains("700"))
            #expect(try await page.piece(Array(photo.dropFirst(700)), of: begun.uploadID, at: 700).status == 200)
            #expect(try await page.commit(begun.uploadID, "a.jpg").status == 200)
            // The page goes on to the commit, which says that it is done.
            #expect(try await page.ask(begun.uploadID).status == 400)
            #expect(try await ben.ask(begun.uploadID).status == 404)
        }
    }

    @Test("what has come of a piece when its connection breaks need not be sent again")
    func keepsBrokenPieces() async throws {
        try await TestServer.run { server in
            let page = try await Page(server)
            let id = try Self.state(await page.ask(nil)).uploadID
            var offset = 0
            for length in [900, 1, 2_000] {
                let goal = offset + length
                // A connection that breaks before the server has looked at it leaves nothing, as in a crowd.
                try await eventually("\(length) bytes more are kept") {
                    offset = Int(try Self.state(await page.ask(id)).offset)
                    if offset >= goal { return true }
                    let rest = photo[offset...]
                    await page.brokenPiece(Array(photo[offset..<goal]), of: rest.count, of: id, at: offset)
                    try await Task.sleep(for: .milliseconds(100))
                    return false
                }
                #expect(offset == goal)
            }
            #expect(try await page.piece(Array(photo[offset...]), of: id, at: offset).status == 200)
            #expect(try await page.commit(id, "a.jpg").status == 200)
            #expect(try await server.get("/1/files/auto/byteclub/photos/a.jpg").body == photo)
        }
    }

    @Test("bytes that are not those whose hash the page tells are not stored")
    func otherBytes() async throws {
        try await TestServer.run { server in
            let page = try await Page(server)
            let id = try Self.state(await page.piece(photo, of: nil, at: 0)).uploadID
            let refusal = try await page.commit(id, "a.jpg", hash: ContentHasher.hash(Array(photo.dropLast())))
            #expect(refusal.status == 409 && !refusal.text.isEmpty)
            #expect(try await server.get("/1/files/auto/byteclub/photos/a.jpg").status == 404)
            #expect(try await page.commit(id, "a.jpg", hash: ContentHasher.hash(photo)).status == 200)
        }
    }

    @Test("half an upload is forgotten after two days, and the page begins again")
    func forgotten() async throws {
        let clock = Clock()
        try await TestServer.run(clock: clock) { server in
            let page = try await Page(server)
            let id = try Self.state(await page.piece(Array(photo.prefix(700)), of: nil, at: 0)).uploadID
            clock.advance(48 * 3600 - 1)
            #expect(try Self.state(await page.ask(id)).offset == 700)
            clock.advance(1)
            #expect(try await page.ask(id).status == 404)
            #expect(try await page.commit(id, "a.jpg").status == 404)
            #expect(try Self.state(await page.ask(nil)).offset == 0)
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

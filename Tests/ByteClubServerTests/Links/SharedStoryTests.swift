import ByteClubCore
import ByteClubMedia
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Notes behind links, with their photos") struct SharedStoryTests {
    /// Photos that differ in their bytes, not in what they show.
    private static func photo(_ number: UInt8) -> [UInt8] { Fixture.bytes("panoramas/dated.jpg") + [number] }
    private static func hash(_ number: UInt8) -> ContentHash { ContentHasher.hash(photo(number)) }

    private static func target(_ answer: RawMessage) throws -> String {
        "/" + (try answer.text("url")).split(separator: "/").dropFirst(2).joined(separator: "/")
    }

    private static func put(_ path: String, _ bytes: [UInt8], _ server: TestServer) async throws {
        #expect(try await server.send("PUT /1/files_put/auto\(path)", body: bytes).status == 200, "\(path)")
    }

    private static let text = """
        # The *ridge*

        Up we went, see [the map](map.jpg).

        ![At dawn](photos/one.jpg)
        ![](../Other/two%20%231.jpg)

        | ![](/Trip/three.jpg) | `![](code.jpg)` |
        |---|---|

            ![](indented.jpg)

        ![](https://other.example/x.jpg) ![](film.mov) ![](a.md) ![](../../up.jpg) ![](none.jpg) ![](//h/x.jpg)
        """

    private static func fill(_ server: TestServer) async throws {
        let paths = [
            "/Trip/photos/one.jpg", "/Other/two%20%231.jpg", "/Trip/three.jpg", "/Trip/map.jpg", "/Trip/code.jpg",
            "/Trip/indented.jpg", "/up.jpg", "/Trip/beside.jpg",
        ]
        for (number, path) in paths.enumerated() { try await put(path, photo(UInt8(number + 1)), server) }
        try await put("/Trip/film.mov", Array("film".utf8), server)
        try await put("/Trip/photos/one.jpg.md", Array("Planted caption".utf8), server)
        try await server.store("/Trip/story.md", text)
    }

    @Test("a shared note shows its photos by its own link, as pictures and as pages")
    func shown() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let target = try Self.target(try await server.post("/1/shares/auto/Trip/story.md"))
            let secret = target.split(separator: "/")[1]
            let page = try await server.send("GET \(target)", []).text
            #expect(page.contains("<h1><bdi>The ridge</bdi></h1>") && page.contains("Up we went, see the map."))
            #expect(page.contains("<figcaption>At dawn</figcaption>") && !page.contains("Planted"))
            for number in [UInt8(1), 2, 3] {
                let base = "/s/\(secret)/-/\(Self.hash(number))"
                #expect(page.contains("href=\"\(base)\"") && page.contains("src=\"\(base)/512.jpg\""), "\(number)")
                let picture = try await server.send("GET \(base)/512.jpg", [])
                #expect(picture.status == 200 && picture["Content-Type"] == "image/jpeg")
                let single = try await server.send("GET \(base)", [])
                #expect(single.status == 200 && single.text.contains("<figure class=\"viewer\""))
                #expect(single.text.contains("rel=\"up\" href=\"\(target)\"") && !single.text.contains("Planted"))
                let bytes = try await server.send("GET \(base)?dl=1", [])
                #expect(bytes.status == 200 && bytes.body.starts(with: [0xFF, 0xD8]))
                #expect(try PhotoDetails(bytes: bytes.body).place == nil, "a link takes places away")
            }
            let first = try await server.send("GET /s/\(secret)/-/\(Self.hash(1))", []).text
            #expect(first.contains("rel=\"next\" href=\"/s/\(secret)/-/\(Self.hash(2))\""))
            #expect(!first.contains("rel=\"prev\""))
            #expect(
                page.contains("og:image\" content=\"http://127.0.0.1:\(server.port)/s/\(secret)/-/\(Self.hash(1))/"))
        }
    }

    @Test("a shared note opens the photos that it shows and nothing else, at any address")
    func closed() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let target = try Self.target(try await server.post("/1/shares/auto/Trip/story.md"))
            let secret = target.split(separator: "/")[1]
            let page = try await server.send("GET \(target)", []).text
            // A photo that is linked to, in code, above the club, or only beside the note.
            for number in [UInt8(4), 5, 6, 7, 8] {
                #expect(!page.contains("\(Self.hash(number))"), "\(number)")
                for rest in ["", "?dl=1", "/256.jpg", "/4096.jpg", "/original.jpg", "/tiles/0-0.jpg"] {
                    let path = "/s/\(secret)/-/\(Self.hash(number))\(rest)"
                    #expect(try await server.send("GET \(path)", []).status == 404, "\(path)")
                }
            }
            for rest in [
                "/Trip", "/Trip/photos/one.jpg", "/-/photos/one.jpg", "/story.md/photos/one.jpg", "/-", "/-/x",
                "/story.md/../map.jpg", "/story.md/%2e%2e/map.jpg", "/-/\(Self.hash(1))/../map.jpg", "/512.jpg",
                "/-/\(Self.hash(1))/a.md", "/-/\(Self.hash(1))/256.jpg/x", "/story.md/-/\(Self.hash(1))",
                "/-/\(ContentHasher.hash(Array("film".utf8)))", "/-/\(ContentHasher.hash(Array(Self.text.utf8)))",
            ] {
                let answer = try await server.send("GET /s/\(secret)\(rest)", [])
                // The name in a link does not matter, so that what is not below it is the note itself.
                let isNote = answer.status == 200 && answer.text.contains("<h1><bdi>The ridge</bdi></h1>")
                #expect(answer.status == 404 || isNote, "\(rest)")
                #expect(!answer.text.contains("viewer.js"), "\(rest)")
            }
            for path in [
                "/photos/\(Self.hash(1))/256.jpg", "/1/files/auto/Trip/photos/one.jpg", "/gallery/Trip/map.jpg",
            ] {
                #expect(try await server.send("GET \(path)", []).status != 200, "\(path)")
            }
        }
    }

    @Test("a photo that the text no longer shows, or that is gone, is shut at once")
    func changes() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let target = try Self.target(try await server.post("/1/shares/auto/Trip/story.md"))
            let base = "/s/\(target.split(separator: "/")[1])/-"
            try await server.store("/Trip/story.md", "only ![](three.jpg)")
            for number in [UInt8(1), 2] {
                #expect(try await server.send("GET \(base)/\(Self.hash(number))/256.jpg", []).status == 404)
                #expect(try await server.send("GET \(base)/\(Self.hash(number))", []).status == 404)
            }
            #expect(try await server.send("GET \(base)/\(Self.hash(3))/256.jpg", []).status == 200)
            try await Self.put("/Trip/three.jpg", Self.photo(9), server)
            #expect(try await server.send("GET \(base)/\(Self.hash(3))/256.jpg", []).status == 404)
            #expect(try await server.send("GET \(base)/\(Self.hash(9))/256.jpg", []).status == 200)
            #expect(try await server.post("/1/fileops/delete", "path=/Trip/three.jpg").status == 200)
            #expect(try await server.send("GET \(base)/\(Self.hash(9))", []).status == 404)
            #expect(try await server.send("GET \(target)", []).status == 200)
        }
    }

    @Test("a note of a shared folder shows photos of that folder alone, at their places in it")
    func inFolder() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let target = try Self.target(try await server.post("/1/shares/auto/Trip"))
            let secret = target.split(separator: "/")[1]
            let page = try await server.send("GET \(target)/story.md", []).text
            #expect(page.contains("href=\"\(target)/photos/one.jpg\"") && page.contains("\(Self.hash(3))"))
            #expect(!page.contains("\(Self.hash(2))"))
            let outside = try await server.send("GET /s/\(secret)/-/\(Self.hash(2))/256.jpg", [])
            #expect(outside.status == 404)
        }
    }

    @Test("a note behind a password shows no picture before it was told")
    func password() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let target = try Self.target(
                try await server.post("/1/shares/auto/Trip/story.md", "password=a%20long%20secret"))
            let base = "/s/\(target.split(separator: "/")[1])/-/\(Self.hash(1))"
            for path in [target, base, base + "/256.jpg", base + "?dl=1"] {
                #expect(try await server.send("GET \(path)", []).status == 403, "\(path)")
            }
        }
    }

    @Test(
        "targets lead to files by the rules of addresses, and never above the club",
        arguments: [
            ("a.jpg", "/n/m/a.jpg"), ("./b/../a.jpg", "/n/m/a.jpg"), ("../a.jpg", "/n/a.jpg"), ("/a.jpg", "/a.jpg"),
            ("../../../a.jpg", nil), ("a%20b.jpg#x?y", "/n/m/a b.jpg"), ("a%2Fb.jpg", "/n/m/a/b.jpg"),
            ("%2e%2e/a.jpg", "/n/a.jpg"), ("https://x/a.jpg", nil), ("//x/a.jpg", nil), ("a%zz.jpg", nil),
            ("a%00.jpg", nil), ("#a.jpg", nil), ("javascript:a.jpg", nil),
        ] as [(String, String?)])
    func targets(target: String, path: String?) throws {
        #expect(SharedStory.path(of: target, beside: try RemotePath("/n/m/note.md"))?.string == path)
    }
}

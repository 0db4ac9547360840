import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Hot spots of photos behind links") struct SharedSpotTests {
    private static func photo(_ number: UInt8) -> [UInt8] { Fixture.bytes("panoramas/dated.jpg") + [number] }
    private static func hash(_ number: UInt8) -> ContentHash { ContentHasher.hash(photo(number)) }

    /// The captions' spots lead into the shared folder, out of it, to nothing, and to what is no file.
    private static let caption = """
        Planted caption

        at 90,-5: [to the hut](hut.jpg)
        at 10,0: [](deep/lake.jpg#view=12,3,60)
        at 20,0: [planted words](../Secret/planted.jpg)
        at 30,0: [planted gone](planted-gone.jpg)
        at 40,0: [planted site](https://planted.example/x.jpg)
        at 50,0: [planted up](../../../planted.jpg)
        at 60,0: [planted file](planted.bin)
        at 70,0: [planted deleted](planted-deleted.jpg)
        at 80,0: [planted folder](planted-folder.jpg)
        """

    private static func put(_ path: String, _ number: UInt8, _ server: TestServer) async throws {
        #expect(try await server.send("PUT /1/files_put/auto\(path)", body: photo(number)).status == 200)
    }

    private static func fill(_ server: TestServer) async throws {
        for (number, path) in [
            "/n/Tour/ridge.jpg", "/n/Tour/hut.jpg", "/n/Tour/deep/lake.jpg", "/n/Secret/planted.jpg",
            "/n/Tour/planted-deleted.jpg", "/n/Tour/unlisted.jpg",
        ].enumerated() { try await put(path, UInt8(number + 1), server) }
        #expect(try await server.post("/1/fileops/delete", "path=/n/Tour/planted-deleted.jpg").status == 200)
        _ = try await server.post("/1/fileops/create_folder", "path=/n/Tour/planted-folder.jpg")
        try await server.store("/n/Tour/ridge.jpg.md", caption)
    }

    private static func target(_ answer: RawMessage) throws -> String {
        "/" + (try answer.text("url")).split(separator: "/").dropFirst(2).joined(separator: "/")
    }

    /// The links over a photo.
    private static func spots(_ page: String) -> [String] {
        page.matches(of: /<li><a href="([^"]*)" data-yaw="([^"]*)" data-pitch="([^"]*)">([^<]*)<\/a>/).map {
            "\($0.1) \($0.2) \($0.3) \($0.4)"
        }
    }

    @Test("in a shared folder those are drawn that lead to its own photos, and nothing of the others is told")
    func folder() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let target = try Self.target(try await server.post("/1/shares/auto/n/Tour"))
            let page = try await server.send("GET \(target)/ridge.jpg", []).text
            #expect(
                Self.spots(page) == [
                    "\(target)/hut.jpg 90.0 -5.0 to the hut",
                    "\(target)/deep/lake.jpg#view=12,3,60 10.0 0.0 lake",
                ], "\(page)")
            #expect(!page.contains("planted"), "\(page)")
            #expect(!page.contains("Secret"))
            for spot in ["hut.jpg", "deep/lake.jpg"] {
                #expect(try await server.send("GET \(target)/\(spot)", []).status == 200)
            }
        }
    }

    @Test("in a shared note those are drawn that lead to its other photos, in the note's words, not the caption's")
    func story() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            try await server.store(
                "/n/Tour/story.md", "# Tour\n\n![](ridge.jpg)\n\n![The <hut>](hut.jpg)\n\nSee [all](deep/lake.jpg).")
            let target = try Self.target(try await server.post("/1/shares/auto/n/Tour/story.md"))
            let base = "/s/\(target.split(separator: "/")[1])/-"
            let page = try await server.send("GET \(base)/\(Self.hash(1))", []).text
            #expect(Self.spots(page) == ["\(base)/\(Self.hash(2)) 90.0 -5.0 The &lt;hut&gt;"], "\(page)")
            for word in ["planted", "Planted", "lake", "to the hut", "Secret", "unlisted"] {
                #expect(!page.contains(word), "\(word)")
            }
            // Once the note shows the lake, its spot is drawn too.
            try await server.store("/n/Tour/story.md", "![](ridge.jpg) ![](deep/lake.jpg)")
            let later = try await server.send("GET \(base)/\(Self.hash(1))", []).text
            #expect(Self.spots(later) == ["\(base)/\(Self.hash(3))#view=12,3,60 10.0 0.0 lake"])
        }
    }

    @Test("a photo that is shared alone has none, since nothing else is shared")
    func alone() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let target = try Self.target(try await server.post("/1/shares/auto/n/Tour/ridge.jpg"))
            let page = try await server.send("GET \(target)", []).text
            #expect(page.contains("<figure class=\"viewer\"") && Self.spots(page).isEmpty)
            #expect(!page.contains("lanted") && !page.contains("hut"))
        }
    }
}

import ByteClubCore
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Pages behind links") struct SharePageTests {
    private static let photo = Fixture.bytes("panoramas/dated.jpg")

    private static func target(_ answer: RawMessage) throws -> String {
        "/" + (try answer.text("url")).split(separator: "/").dropFirst(2).joined(separator: "/")
    }

    private static func put(_ path: String, _ bytes: [UInt8], _ server: TestServer) async throws {
        #expect(try await server.send("PUT /1/files_put/auto\(path)", body: bytes).status == 200, "\(path)")
    }

    /// The address in the first link of a relation.
    private static func link(_ rel: String, _ page: String) -> String? {
        guard let start = page.range(of: " rel=\"\(rel)\" href=\"") else { return nil }
        return String(page[start.upperBound...].prefix { $0 != "\"" })
    }

    @Test("a page tells the title, who gives it and when a photo was taken, and nothing of when it was sent")
    func words() async throws {
        try await TestServer.run(adjusting: { $0.settings.clubName = "Ridge & Co" }) { server in
            try await Self.put("/Private%20plans/Trip/ridge.jpg", Self.photo, server)
            let target = try Self.target(try await server.post("/1/shares/auto/Private%20plans/Trip/ridge.jpg"))
            let page = try await server.send("GET \(target)", []).text
            #expect(page.contains("<h1><bdi>ridge.jpg</bdi></h1>"))
            #expect(page.contains("Shared by <bdi>Ann Bell</bdi> of <bdi>Ridge &amp; Co</bdi>"))
            #expect(!page.contains("<time"), "the date is the photo's own")
            #expect(page.contains("<meta name=\"robots\" content=\"noindex\">"))
            #expect(page.contains("name=\"theme-color\""))
            // The bar of members, their names and the folders above are not there.
            for hidden in ["Private", "plans", "/gallery", "/login", "logout", "csrf", "Trip", "<style", "style=\""] {
                #expect(!page.contains(hidden), "\(hidden)")
            }
        }
    }

    @Test("no page of a link tells other members, other files, or what is above, whoever looks at it")
    func secrets() async throws {
        try await TestServer.run { server in
            let ben = try await server.add("Benedict Planted", .editor)
            let body = Self.photo
            for path in ["/Planted-above/Trip/ridge.jpg", "/Planted-above/Planted-beside.jpg"] {
                let sent = try await server.send("PUT /1/files_put/auto\(path)", [ben], body: body)
                #expect(sent.status == 200)
            }
            try await server.store("/Planted-above/Trip/a.md", "# Seen\n\ntext")
            try await server.store("/Planted-note.md", "Planted-text")
            let target = try Self.target(try await server.post("/1/shares/auto/Planted-above/Trip"))
            let secret = target.split(separator: "/")[1]
            let session = ["Cookie: byteclub=planted-session"]
            for path in [
                "", "/ridge.jpg", "/a.md", "/none", "/../Planted-beside.jpg", "/a.md/below", "?page=2", "?page=0",
                "?page=x", "/Planted-beside.jpg", "?dl=1",
            ] {
                for fields in [[], session, [server.bearer]] {
                    let answer = try await server.send("GET \(target)\(path)", fields)
                    #expect([200, 400, 404].contains(answer.status), "\(path): \(answer.status)")
                    #expect(!String(decoding: answer.bytes, as: UTF8.self).contains("Planted"), "\(path)")
                    #expect(answer["Set-Cookie"] == nil)
                }
            }
            let hash = ContentHasher.hash(Array("Planted-text".utf8))
            for path in ["/s/\(secret)/-/\(hash)/512.jpg", "/s/\(secret)/-/\(hash)"] {
                #expect(try await server.send("GET \(path)", []).status == 404, "\(path)")
            }
        }
    }

    @Test("a photo of an album leads to the ones beside it and back, and a photo alone to none")
    func turns() async throws {
        try await TestServer.run { server in
            for name in ["a%20%231", "b", "c"] { try await Self.put("/Trip/Day/\(name).jpg", Self.photo, server) }
            try await server.store("/Trip/Day/b.md", "not a photo")
            let target = try Self.target(try await server.post("/1/shares/auto/Trip"))
            let first = try await server.send("GET \(target)/Day/a%20%231.jpg", []).text
            #expect(Self.link("prev", first) == nil && Self.link("next", first) == "\(target)/Day/b.jpg")
            #expect(Self.link("up", first) == "\(target)/Day")
            let middle = try await server.send("GET \(target)/Day/b.jpg", []).text
            #expect(Self.link("prev", middle) == "\(target)/Day/a%20%231.jpg")
            #expect(Self.link("next", middle) == "\(target)/Day/c.jpg")
            let day = try await server.send("GET \(target)/Day", []).text
            #expect(Self.link("up", day) == target && Self.link("next", day) == nil)
            let root = try await server.send("GET \(target)", []).text
            #expect(Self.link("up", root) == nil && root.contains("/512.jpg\" alt=\"\""), "a folder has a picture")
            let alone = try Self.target(try await server.post("/1/shares/auto/Trip/Day/b.jpg"))
            let page = try await server.send("GET \(alone)", []).text
            #expect(["prev", "next", "up"].allSatisfy { Self.link($0, page) == nil })
        }
    }

    @Test("a long album has a hundred photos a page, folders on its first and other files on its last")
    func pages() async throws {
        try await TestServer.run { server in
            try await Self.put("/Trip/000.jpg", Self.photo, server)
            for number in 1..<103 {
                let name = String("00\(number)".suffix(3))
                let form = "from_path=/Trip/000.jpg&to_path=/Trip/\(name).jpg"
                #expect(try await server.post("/1/fileops/copy", form).status == 200)
            }
            try await server.store("/Trip/zoo.bin", "z")
            try await server.store("/Trip/Day/a.md", "z")
            let target = try Self.target(try await server.post("/1/shares/auto/Trip"))
            let first = try await server.send("GET \(target)", []).text
            #expect(first.contains("1 folder · 103 photos · 1 file") && first.contains("href=\"?page=2\">More"))
            #expect(first.contains("/099.jpg\"") && !first.contains("/100.jpg\"") && !first.contains("zoo.bin"))
            #expect(first.contains(">Day</bdi>") && first.contains("Download all<small> (zip)"))
            let second = try await server.send("GET \(target)?page=2", []).text
            #expect(second.contains("/100.jpg\"") && second.contains("/102.jpg\"") && !second.contains("/099.jpg\""))
            #expect(second.contains("zoo.bin") && !second.contains(">Day</bdi>") && !second.contains("More photos"))
            #expect(second.contains("<a class=\"button\" href=\"\(target)\">Earlier"))
            let beyond = try await server.send("GET \(target)?page=9", [])
            #expect(beyond.status == 200 && beyond.text.contains("/102.jpg\""))
        }
    }

    @Test("messengers see a picture, a title and who gives it, unless the link has a password")
    func preview() async throws {
        try await TestServer.run(adjusting: { $0.settings.publicURL = "https://club.example/" }) { server in
            try await Self.put("/Trip/ridge%20%22.jpg", Self.photo, server)
            try await server.store("/Trip/ridge%20%22.jpg.md", "The \"<ridge>\"")
            let answer = try await server.post("/1/shares/auto/Trip")
            let target = try Self.target(answer)
            let hash = ContentHasher.hash(Self.photo)
            for page in [target, "\(target)/ridge%20%22.jpg"] {
                let text = try await server.send("GET \(page)", []).text
                let image = "https://club.example/s/\(target.split(separator: "/")[1])/-/\(hash)/1024.jpg"
                #expect(text.contains("<meta property=\"og:image\" content=\"\(image)\">"), "\(text)")
                #expect(text.contains("<meta property=\"og:image:width\" content=\"300\">"))
                #expect(text.contains("<meta property=\"og:type\" content=\"website\">"))
                #expect(text.contains("<link rel=\"canonical\" href=\"https://club.example\(page)\">"))
                #expect(text.contains("Shared by Ann Bell\">") && !text.contains("\"<ridge>"))
                let path = image.dropFirst("https://club.example".count)
                let picture = try await server.send("GET \(path)", [])
                #expect(picture.status == 200 && picture["Content-Type"] == "image/jpeg")
            }
            _ = try await server.post("/1/shares/auto/Trip", "password=a%20long%20secret")
            let locked = try await server.send("GET \(target)", [])
            #expect(locked.status == 403 && !locked.text.contains("og:") && !locked.text.contains("canonical"))
            #expect(!locked.text.contains("Ann") && !locked.text.contains("Trip"))
        }
    }

    @Test("what is gone is told in the page's own dress, with whom to ask")
    func gone() async throws {
        try await TestServer.run { server in
            try await server.store("/Trip/a.md", "one")
            let target = try Self.target(try await server.post("/1/shares/auto/Trip"))
            let below = try await server.send("GET \(target)/none", [])
            #expect(below.status == 404 && below.text.contains("If you miss it, ask Ann Bell."))
            #expect(below.text.contains("rel=\"up\" href=\"\(target)\""))
            for (status, path) in [(404, "/s/x"), (404, "/s")] {
                let page = try await server.send("GET \(path)", [])
                #expect(page.status == status && page.text.contains("<h1><bdi>Link not found</bdi></h1>"))
                #expect(page.text.contains("href=\"\(WebFile.style.address)\"") && page.text.contains("for a new one"))
                #expect(!page.text.contains("Ann Bell") && page["Content-Security-Policy"] == WebSite.picturePolicy)
            }
        }
    }

    @Test("rows of photos have a place for each before it comes, by a ratio that the style knows")
    func ratios() throws {
        let style = String(decoding: WebFile.shareStyle.bytes, as: UTF8.self)
        for (width, height) in [
            (1, 1), (4000, 3000), (3000, 4000), (6000, 4000), (10_000, 1000), (1, 5000), (16, 9), (2000, 1000),
            (24, 10),
        ] {
            let tile = SharePage.Tile(
                PhotoTile(PhotoShape(untagged: (width, height)), view: nil, base: "/", upTo: 1024))
            #expect(tile.ratio == "r12" || style.contains(".\(tile.ratio) {"), "\(tile.ratio)")
        }
    }
}

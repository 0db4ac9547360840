import ByteClubCore
import ByteClubMedia
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

/// The secret of a shared note against every other address.
@Suite("The secret of a shared note") struct StoryTokenTests {
    /// A text in everything that is not shared.
    private static let planted = "pl4nted"
    /// The photos that are not shared, each with bytes of its own.
    private static let hidden = [
        "/Trip/beside-\(planted).jpg", "/Trip/photos/below-\(planted).jpg", "/\(planted)/far.jpg",
        "/top-\(planted).jpg", "/Trip/linked-\(planted).jpg",
    ]
    private static let notes = ["/Trip/\(planted).md", "/\(planted)/far.md", "/top-\(planted).txt"]

    /// Photos that differ in their bytes, not in what they show.
    private static func photo(_ number: Int) -> [UInt8] {
        Fixture.bytes("panoramas/dated.jpg") + [UInt8(truncatingIfNeeded: number)]
    }
    private static func hash(_ number: Int) -> String { "\(ContentHasher.hash(photo(number)))" }

    private struct Story {
        let server: TestServer
        let secret: String
        var page: String { "/s/\(secret)/story.md" }

        func get(_ target: String, _ fields: [String] = []) async throws -> RawMessage {
            try await server.send("GET \(target)", fields)
        }

        func put(_ path: String, _ bytes: [UInt8]) async throws {
            #expect(try await server.send("PUT /1/files_put/auto\(path)", body: bytes).status == 200, "\(path)")
        }

        /// Says what an answer tells of what is not shared; nil for nothing.
        func leak(_ answer: RawMessage) -> String? {
            let told = answer.start + answer.fields.map { "\($0.name): \($0.value)\n" }.joined() + answer.text
            if told.contains(planted) { return "a planted text" }
            let hashes = hidden.indices.map { StoryTokenTests.hash(10 + $0) }
            if let found = hashes.first(where: told.contains) { return "a content, \(found)" }
            return hidden.indices.contains { answer.body == photo(10 + $0) } ? "a photo" : nil
        }
    }

    private static func run(
        _ terms: String = "", _ body: @escaping @Sendable (Story) async throws -> Void
    ) async throws {
        try await TestServer.run(adjusting: PageScene.adjust) { server in
            func put(_ path: String, _ bytes: [UInt8]) async throws {
                #expect(try await server.send("PUT /1/files_put/auto\(path)", body: bytes).status == 200, "\(path)")
            }
            for (number, path) in hidden.enumerated() { try await put(path, photo(10 + number)) }
            for path in notes { try await server.store(path, "# \(planted)") }
            for name in ["one", "two"] { try await put("/Trip/photos/\(name).jpg", photo(name == "one" ? 1 : 2)) }
            try await server.store(
                "/Trip/photos/one.jpg.md",
                "\(planted) [link](../beside-\(planted).jpg) https://\(planted).example\n\n"
                    + "at 10,0: [\(planted)](below-\(planted).jpg)\n")
            try await server.store(
                "/Trip/story.md", "# The ridge\n\n![](photos/one.jpg)\n![](photos/two.jpg)\n")
            let url = try await server.post("/1/shares/auto/Trip/story.md", terms).text("url")
            try await body(Story(server: server, secret: String(url.split(separator: "/")[3])))
        }
    }

    @Test("opens its two photos in every form, and none of them has a place in it")
    func opened() async throws {
        try await Self.run { story in
            let page = try await story.get(story.page)
            #expect(page.status == 200 && story.leak(page) == nil)
            for number in [1, 2] {
                let base = "/s/\(story.secret)/-/\(Self.hash(number))"
                var shown = [base, base + "?dl=1"] + PictureStore.sizes.map { base + "/\($0).jpg" }
                shown.append(base + "/tiles/0-0.jpg")
                for target in shown {
                    let answer = try await story.get(target)
                    // A small photo has no tiles.
                    #expect(answer.status == 200 || target.contains("tiles"), "\(target): \(answer.start)")
                    #expect(story.leak(answer) == nil, "\(target)")
                    #expect(answer.status != 200 || answer["Referrer-Policy"] == "no-referrer", "\(target)")
                    if answer.body.starts(with: [0xFF, 0xD8]) {
                        let details = try? PhotoDetails(bytes: answer.body)
                        #expect(details?.place == nil, "\(target) tells where it was taken")
                    }
                    #expect(!answer.text.contains("50.60") && !answer.text.contains("openstreetmap"), "\(target)")
                }
            }
        }
    }

    @Test("keeps places when its maker wants that, in the files and nowhere else")
    func location() async throws {
        try await Self.run("location=keep") { story in
            let base = "/s/\(story.secret)/-/\(Self.hash(1))"
            let file = try await story.get(base + "?dl=1")
            #expect(try PhotoDetails(bytes: file.body).place != nil)
            for size in PictureStore.sizes {
                let picture = try await story.get(base + "/\(size).jpg")
                #expect((try? PhotoDetails(bytes: picture.body))?.place == nil, "\(size)")
            }
            #expect(try await !story.get(base).text.contains("50.60"))
        }
    }

    @Test("opens nothing else at any address behind it, however it is written")
    func walk() async throws {
        try await Self.run { story in
            let secret = story.secret
            let paths = Self.hidden + Self.notes + ["/Trip", "/", "/Trip/photos/one.jpg.md", "/Trip/photos"]
            var count = 0
            for path in paths {
                let encoded = path.split(separator: "/").map { PercentEncoding.encode(String($0)) }
                let plain = "/" + encoded.joined(separator: "/")
                let slashed = encoded.joined(separator: "%2F")
                let bases = [
                    plain, "/story.md" + plain, "/-" + plain, "/-/\(Self.hash(1))" + plain,
                    "/story.md/.." + plain, "/story.md/%2e%2e" + plain, "/..%2f..%2f" + slashed, "/%2F" + slashed,
                    "/story.md/%252e%252e" + plain, "/STORY.MD" + plain, "/story.md%00" + plain,
                    "//story.md//.." + plain, "/story.md%5c.." + plain, "/story.md/..%c0%af" + slashed,
                    "/-/\(Self.hash(1))/../" + slashed, plain.uppercased(), "/story.md/." + plain,
                ]
                for base in bases {
                    for end in ["", "?dl=1", "?picture=1", "/512.jpg", "/original.jpg"] {
                        let answer = try await story.get("/s/\(secret)\(base)\(end)")
                        #expect(story.leak(answer) == nil, "\(base)\(end): \(story.leak(answer) ?? "")")
                        #expect(answer.status < 500 && answer["Set-Cookie"] == nil, "\(base)\(end)")
                        count += 1
                    }
                }
            }
            for number in Self.hidden.indices {
                let hash = Self.hash(10 + number)
                for base in [
                    "/-/\(hash)", "/-/\(hash.uppercased())", "/story.md/-/\(hash)", "/\(hash)", "/-%2F\(hash)",
                ] {
                    for end in ["", "?dl=1", "/256.jpg", "/4096.jpg", "/original.jpg", "/tiles/0-0.jpg", "/"] {
                        let answer = try await story.get("/s/\(secret)\(base)\(end)")
                        // A refusal may repeat nothing but what the address had.
                        #expect([400, 404].contains(answer.status) || story.leak(answer) == nil, "\(base)\(end)")
                        #expect(!answer.body.starts(with: [0xFF, 0xD8]), "\(base)\(end)")
                        count += 1
                    }
                }
            }
            print("shared note: \(count) addresses")
        }
    }

    @Test("is no other secret: no token, cookie, invitation, upload, cursor or link of another kind")
    func otherSecrets() async throws {
        try await Self.run { story in
            let secret = story.secret
            let everywhere = [
                [], ["Authorization: Bearer \(secret)"], ["Cookie: byteclub=\(secret); byteclub-share=\(secret)"],
                ["Cookie: byteclub=\(secret)\(secret)"],
            ]
            let file = "/Trip/story.md"
            for target in [
                "/gallery", "/gallery\(file)", "/photos/\(Self.hash(1))/256.jpg", "/1/files/auto\(file)",
                "/1/metadata/auto/Trip", "/1/view/\(secret)/story.md", "/invite/\(secret)", "/reset/\(secret)",
                "/1/account/info?access_token=\(secret)", "/1/thumbnails/auto\(file)", "/notes/history\(file)",
                "/1/sync/changes?access_token=\(secret)", "/gallery/items", "/albums/Trip", "/account",
            ] {
                for fields in everywhere {
                    let answer = try await story.get(target, fields)
                    #expect([303, 401, 403, 404].contains(answer.status), "\(target): \(answer.start)")
                    #expect(story.leak(answer) == nil, "\(target)")
                }
            }
            let copied = try await story.server.post(
                "/1/fileops/copy", "from_copy_ref=\(secret)&to_path=/copied.md")
            #expect(copied.status >= 400)
            for target in ["/s/\(secret.dropLast())", "/s/\(secret)0", "/s/\(secret.uppercased())x", "/s/", "/s"] {
                #expect(try await story.get(target + "/story.md").status == 404, "\(target)")
            }
        }
    }

    @Test("shows the present version of a photo and no earlier one, and none that went elsewhere")
    func versions() async throws {
        try await Self.run { story in
            let base = "/s/\(story.secret)/-"
            try await story.put("/Trip/photos/one.jpg", Self.photo(3))
            for end in ["", "?dl=1", "/512.jpg", "/tiles/0-0.jpg"] {
                #expect(try await story.get("\(base)/\(Self.hash(1))\(end)").status == 404, "\(end)")
            }
            #expect(try await story.get("\(base)/\(Self.hash(3))/512.jpg").status == 200)
            // Renamed, the note does not show it any more.
            let moved = "from_path=/Trip/photos/one.jpg&to_path=/Trip/photos/three.jpg"
            #expect(try await story.server.post("/1/fileops/move", moved).status == 200)
            for end in ["", "?dl=1", "/512.jpg"] {
                #expect(try await story.get("\(base)/\(Self.hash(3))\(end)").status == 404, "\(end)")
            }
            // In another case it is the same name.
            try await story.server.store("/Trip/story.md", "![](PHOTOS/Three.JPG)")
            #expect(try await story.get("\(base)/\(Self.hash(3))/512.jpg").status == 200)
            #expect(try await story.get("\(base)/\(Self.hash(2))/512.jpg").status == 404)
        }
    }

    @Test("ends with its note, its maker and its time, for the photos too")
    func end() async throws {
        try await Self.run { story in
            let photo = "/s/\(story.secret)/-/\(Self.hash(1))"
            #expect(try await story.get(photo).status == 200)
            let deleted = try await story.server.post("/1/fileops/delete", "path=/Trip/story.md")
            #expect(deleted.status == 200)
            for target in [story.page, photo, photo + "/512.jpg", photo + "?dl=1"] {
                #expect(try await story.get(target).status == 404, "\(target)")
            }
        }
        try await Self.run { story in
            let links = try await story.server.get("/1/sync/links").decoded(PublicLinkPage.self).links
            let id = try #require(links.first).id
            #expect(try await story.server.post("/1/sync/links/revoke", "id=\(id)").status == 200)
            for end in ["", "/512.jpg", "?dl=1"] {
                #expect(try await story.get("/s/\(story.secret)/-/\(Self.hash(1))\(end)").status == 404, "\(end)")
            }
        }
    }

    @Test("gives messengers a picture of the first photo, and nothing while a password is asked")
    func preview() async throws {
        try await Self.run { story in
            let page = try await story.get(story.page).text
            let image = try #require(page.firstMatch(of: /og:image" content="http:\/\/[^\/]+([^"]+)"/)).1
            #expect(image.hasPrefix("/s/\(story.secret)/-/\(Self.hash(1))/"))
            let picture = try await story.get(String(image))
            #expect(picture.status == 200 && (try? PhotoDetails(bytes: picture.body))?.place == nil)
        }
        try await Self.run("password=a%20long%20secret") { story in
            for end in ["", "?dl=1", "/512.jpg", "/tiles/0-0.jpg"] {
                let answer = try await story.get("/s/\(story.secret)/-/\(Self.hash(1))\(end)")
                #expect(answer.status == 403 && !answer.text.contains("og:"), "\(end)")
                for shared in ["ridge", "story", Self.hash(1), "Ann Bell"] {
                    #expect(!answer.text.contains(shared), "\(end) tells \(shared)")
                }
            }
        }
    }

    @Test("in a shared folder, the zip file and the pages have what is in the folder, and links of captions stay text")
    func folder() async throws {
        try await Self.run { story in
            for path in Self.hidden.prefix(2) + [Self.notes[0], "/Trip/linked-\(Self.planted).jpg"] {
                #expect(try await story.server.post("/1/fileops/delete", "path=\(path)").status == 200)
            }
            try await story.server.store(
                "/Trip/photos/one.jpg.md",
                "See [the map](javascript:alert(1)) and [up](../../top.jpg)\n\nat 10,0: [x](../../far.jpg)\n")
            try await story.server.store("/Trip/story.md", "![](photos/one.jpg) ![a](/\(Self.planted)/far.jpg)")
            let url = try await story.server.post("/1/shares/auto/Trip").text("url")
            let target = "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/")
            for end in ["", "?dl=1", "/photos", "/photos?dl=1", "/photos/one.jpg", "/story.md"] {
                let answer = try await story.get(target + end)
                #expect(answer.status == 200, "\(end)")
                #expect(!answer.text.contains("href=\"javascript") && !answer.text.contains("far.jpg\""), "\(end)")
                if end != "?dl=1" { #expect(story.leak(answer) == nil, "\(end): \(story.leak(answer) ?? "")") }
                #expect(!answer.text.contains(Self.hash(12)), "\(end)")
            }
            let zip = try await story.get(target + "?dl=1").text
            #expect(zip.contains("Trip/photos/one.jpg") && !zip.contains("top-"))
        }
    }
}

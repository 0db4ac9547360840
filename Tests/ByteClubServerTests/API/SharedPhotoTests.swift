import ByteClubCore
import ByteClubMedia
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Photos and passwords of share links") struct SharedPhotoTests {
    private static let photo = Fixture.bytes("panoramas/dated.jpg")
    private static let password = "a long secret"

    private static func target(_ answer: RawMessage) throws -> String {
        "/" + (try answer.text("url")).split(separator: "/").dropFirst(2).joined(separator: "/")
    }

    private static func fill(_ server: TestServer) async throws {
        for path in ["/p/ridge.jpg", "/p/hidden.bin"] {
            #expect(try await server.send("PUT /1/files_put/auto\(path)", body: photo).status == 200)
        }
        try await server.store("/p/ridge.jpg.md", "The <ridge>")
    }

    /// Posts a link's password as its form does.
    private static func tell(_ password: String, _ target: String, _ server: TestServer) async throws -> RawMessage {
        try await server.send(
            "POST \(target)", ["Content-Type: application/x-www-form-urlencoded"],
            body: Array("password=\(PercentEncoding.encode(password))".utf8))
    }

    @Test("nothing that a link gives of a photo tells where it was taken, whatever the photo is called")
    func location() async throws {
        #expect(try PhotoDetails(bytes: Self.photo).place != nil)
        try await TestServer.run { server in
            try await Self.fill(server)
            let folder = try Self.target(try await server.post("/1/shares/auto/p"))
            let secret = folder.split(separator: "/")[1]
            let file = try Self.target(try await server.post("/1/shares/auto/p/ridge.jpg"))
            let direct = try Self.target(try await server.post("/1/media/auto/p/ridge.jpg"))
            let hash = ContentHasher.hash(Self.photo)
            for target in [
                "\(folder)/ridge.jpg?dl=1", "\(folder)/hidden.bin?dl=1", "\(file)?dl=1", direct,
                "/s/\(secret)/-/\(hash)/256.jpg", "/s/\(file.split(separator: "/")[1])/4096.jpg",
                "\(file)?picture=1",
            ] {
                let answer = try await server.send("GET \(target)", [])
                #expect(answer.status == 200, "\(target): \(answer.text.prefix(80))")
                let bytes = Array(answer.body)
                #expect(bytes.starts(with: [0xFF, 0xD8]) && bytes.count > 1000, "\(target)")
                #expect(try PhotoDetails(bytes: bytes).place == nil, "\(target)")
            }
            for page in [folder, "\(folder)/ridge.jpg", file] {
                let answer = try await server.send("GET \(page)", [])
                #expect(
                    answer.status == 200 && !answer.text.contains("50.6") && !answer.text.contains("lat_long"),
                    "\(page)")
            }
            let part = try await server.send("GET \(file)?dl=1", ["Range: bytes=0-1"])
            #expect(part.status == 206 && Array(part.body) == [0xFF, 0xD8])
            // Other files and other pictures of the photo are not reached with it.
            for wrong in [
                "/s/\(secret)/-/\(hash)/original.jpg", "/s/\(secret)/-/\(hash)/300.jpg", "/photos/\(hash)/256.jpg",
            ] {
                #expect([403, 404].contains(try await server.send("GET \(wrong)", []).status), "\(wrong)")
            }
        }
    }

    @Test("who makes a link may let photos keep what they tell, and take that back")
    func keptLocation() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let answer = try await server.post("/1/shares/auto/p/ridge.jpg", "location=keep")
            #expect(try answer.text("location") == "keep")
            let target = try Self.target(answer)
            #expect(Array(try await server.send("GET \(target)?dl=1", []).body) == Self.photo)
            // Asking again changes nothing, but what is said.
            #expect(try await server.post("/1/shares/auto/p/ridge.jpg").text("location") == "keep")
            #expect(try await server.post("/1/shares/auto/p/ridge.jpg", "location=remove").text("location") == "remove")
            #expect(try PhotoDetails(bytes: Array(await server.send("GET \(target)?dl=1", []).body)).place == nil)
            #expect(try await server.post("/1/shares/auto/p/ridge.jpg", "location=here").status == 400)
        }
    }

    /// Films and photos whose places nothing here takes out, by their names or by what they begin with.
    private static let placed: [(name: String, start: [UInt8])] = [
        ("a.heic", Array("no matter".utf8)), ("a.HEIF", [1]), ("a.avif", [1]), ("a.tif", [1]), ("a.tiff", [1]),
        ("a.webp", [1]), ("a.mov", [1]), ("a.mp4", Array("film".utf8)), ("fake.jpg", Array("no photo".utf8)),
        ("heic.bin", [0, 0, 0, 24] + Array("ftypheic".utf8)), ("avif.jpg", [0, 0, 0, 24] + Array("ftypavif".utf8)),
        ("mp4", [0, 0, 0, 32] + Array("ftypisom".utf8)), ("mov.md", [0, 0, 0, 20] + Array("ftypqt  ".utf8)),
        ("old-mov", [0, 0, 0, 8] + Array("wide".utf8)), ("tiff.bin", [0x49, 0x49, 0x2A, 0]),
        ("tiff.png", [0x4D, 0x4D, 0, 0x2A]), ("webp.bin", Array("RIFF....WEBPVP8 ".utf8)),
    ]

    @Test("no link to a photo or film that cannot lose its place is made or gives it, unless its maker says so")
    func placesThatStay() async throws {
        try await TestServer.run { server in
            for (name, bytes) in Self.placed {
                #expect(try await server.send("PUT /1/files_put/auto/p/\(name)", body: bytes).status == 200)
            }
            let folder = try Self.target(try await server.post("/1/shares/auto/p"))
            for (name, bytes) in Self.placed {
                for (kind, terms) in [("shares", ""), ("shares", "location=remove"), ("media", "location=remove")] {
                    let refused = try await server.post("/1/\(kind)/auto/p/\(name)", terms)
                    #expect(refused.status == 415, "\(kind) of \(name)")
                    #expect(try refused.refusal().hasPrefix("location: only JPEG and PNG photos can be shared"))
                }
                #expect(try await server.send("GET \(folder)/\(name)?dl=1", []).status == 415, "\(name)")
                let page = try await server.send("GET \(folder)/\(name)", [])
                #expect(page.status == 200 && page.text.contains("may reveal where it was taken"), "\(name)")
                #expect(!page.text.contains("dl=1"), "\(name)")
                // Programs of old play films by a direct link, which they ask for without a word about places.
                for terms in ["location=keep", ""] {
                    let kept = try Self.target(try await server.post("/1/media/auto/p/\(name)", terms))
                    #expect(Array(try await server.send("GET \(kept)", []).body) == bytes, "\(name)")
                }
            }
            #expect(
                try await server.get("/1/sync/links").decoded(PublicLinkPage.self).links.filter { $0.kind == .share }
                    .count == 1)
        }
    }

    @Test("a link that lets photos keep their places gives none of other formats once that is taken back")
    func placesTakenBack() async throws {
        try await TestServer.run { server in
            try await server.store("/p/a.mov", "film")
            let folder = try Self.target(try await server.post("/1/shares/auto/p", "location=keep"))
            #expect(try await server.send("GET \(folder)/a.mov?dl=1", []).text == "film")
            let file = try Self.target(try await server.post("/1/shares/auto/p/a.mov", "location=keep"))
            #expect(try await server.send("GET \(file)?dl=1", []).text == "film")
            #expect(try await server.send("GET \(file)", []).text.contains("dl=1"))
            _ = try await server.post("/1/shares/auto/p", "location=remove")
            #expect(try await server.send("GET \(folder)/a.mov?dl=1", []).status == 415)
        }
    }

    @Test("sounds, documents and notes, which are neither photos nor films, are given as they are")
    func otherFiles() async throws {
        try await TestServer.run { server in
            for (name, text) in [
                ("a.md", "note"), ("a.pdf", "%PDF-1.7"), ("a.mp3", "ID3"), ("a.gif", "GIF89a"), ("none", ""),
                ("a.m4a", "\0\0\0 ftypM4A "), ("a.wav", "RIFF....WAVE"),
            ] {
                try await server.store("/p/\(name)", text)
                let target = try Self.target(try await server.post("/1/shares/auto/p/\(name)"))
                #expect(try await server.send("GET \(target)?dl=1", []).text == text, "\(name)")
            }
        }
    }

    @Test("a shared folder shows photos with their captions, and a shared photo no note beside it")
    func captions() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let folder = try Self.target(try await server.post("/1/shares/auto/p"))
            let page = try await server.send("GET \(folder)", []).text
            #expect(page.contains("<p>The &lt;ridge&gt;</p>") && page.contains("alt=\"The &lt;ridge&gt;\""))
            #expect(!page.contains("ridge.jpg.md") && page.contains("hidden.bin") && page.contains("1 photo · 1 file"))
            #expect(page.contains("/512.jpg\" srcset=\"/s/") && page.contains("width=\"300\" height=\"400\""))
            #expect(
                try await server.send("GET \(folder)/ridge.jpg", []).text.contains("<figcaption>The &lt;ridge&gt;<"))
            let file = try Self.target(try await server.post("/1/shares/auto/p/ridge.jpg"))
            let alone = try await server.send("GET \(file)", []).text
            #expect(!alone.contains("The &lt;ridge") && alone.contains("data-kind=\"flat\" "))
            #expect(
                alone.contains("<a href=\"?dl=1\"><img src=\"/s/")
                    && alone.contains("src=\"\(WebFile.viewerScript.address)\""))
        }
    }

    @Test("a link with a password shows nothing before it was told, and the cookie opens that link alone")
    func password() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            try await server.store("/other.md", "two")
            let answer = try await server.post("/1/shares/auto/p", "password=\(PercentEncoding.encode(Self.password))")
            #expect(try answer.text("visibility") == "PASSWORD")
            let target = try Self.target(answer)
            let secret = String(target.split(separator: "/")[1])
            let hash = ContentHasher.hash(Self.photo)
            let inside = ["", "/ridge.jpg", "/ridge.jpg?dl=1", "/none"].map { target + $0 }
            for place in inside + ["/s/\(secret)/-/\(hash)/256.jpg", "/s/\(secret)/256.jpg"] {
                let page = try await server.send("GET \(place)", [])
                #expect(page.status == 403 && page.text.contains("name=\"password\""), "\(place)")
                #expect(!page.text.contains("ridge"), "\(place)")
            }
            let wrong = try await Self.tell("another secret", target, server)
            #expect(wrong.status == 403 && wrong.text.contains("Wrong password") && wrong["Set-Cookie"] == nil)
            let right = try await Self.tell(Self.password, target, server)
            #expect(right.status == 303 && right["Location"] == target)
            let cookie = try #require(right["Set-Cookie"])
            #expect(cookie.contains("Path=/s/\(secret);") && cookie.contains("HttpOnly"))
            let pass = "Cookie: " + cookie.prefix { $0 != ";" }
            #expect(try await server.send("GET \(target)", [pass]).text.contains("ridge.jpg"))
            #expect(try await server.send("GET \(target)/ridge.jpg?dl=1", [pass]).status == 200)
            let second = try await server.post(
                "/1/shares/auto/other.md", "password=\(PercentEncoding.encode(Self.password))")
            #expect(try await server.send("GET \(Self.target(second))", [pass]).status == 403)
            // Another password ends what the old one opened; none opens the link for all.
            _ = try await server.post("/1/shares/auto/p", "password=something%20else")
            #expect(try await server.send("GET \(target)", [pass]).status == 403)
            _ = try await server.post("/1/shares/auto/p", "password=")
            #expect(try await server.send("GET \(target)", []).status == 200)
            #expect(try await Self.tell(Self.password, target, server).status == 405)
            #expect(try await server.post("/1/shares/auto/p", "password=short").status == 400)
        }
    }

    @Test("guesses at a link's password are limited, and a link that is taken back or over asks for none")
    func guesses() async throws {
        let (clock, limits) = (Clock(), SignInLimits())
        try await TestServer.run(clock: clock, adjusting: { $0.settings.signIns = limits }) { server in
            try await Self.fill(server)
            let form = "password=\(PercentEncoding.encode(Self.password))&expires_in=60"
            let target = try Self.target(try await server.post("/1/shares/auto/p", form))
            let address = try #require(IPAddress("127.0.0.1"))
            let name = "/s/" + target.split(separator: "/")[1]
            // As if somebody had guessed before, which would take its time.
            for _ in 0..<10 { _ = limits.attempt(name, from: address, nil) }
            let refused = try await Self.tell(Self.password, target, server)
            #expect(refused.status == 429 && refused["Retry-After"] != nil && refused["Set-Cookie"] == nil)
            clock.advance(60)
            let over = try await server.send("GET \(target)", [])
            #expect(over.status == 404 && !over.text.contains("name=\"password\""))
            let fresh = try Self.target(try await server.post("/1/shares/auto/p", form))
            let link = try #require(try await server.get("/1/sync/links").decoded(PublicLinkPage.self).links.first)
            #expect(try await server.post("/1/sync/links/revoke", "id=\(link.id)").status == 200)
            #expect(try await server.send("GET \(fresh)", []).status == 404)
            #expect(try await server.send("GET /s/\(fresh.split(separator: "/")[1])/256.jpg", []).status == 404)
        }
    }
}

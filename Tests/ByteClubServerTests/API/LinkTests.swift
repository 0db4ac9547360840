import ByteClubCore
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct LinkTests {
    /// The path of a link's URL; its host is the one by which the client knows the server.
    private func target(_ answer: RawMessage, _ server: TestServer) throws -> String {
        let url = try answer.text("url")
        let start = "http://127.0.0.1:\(server.port)"
        #expect(url.hasPrefix(start))
        return String(url.dropFirst(start.count))
    }

    @Test("a share is a page without login, the same link each time, and dl=1 gives the bytes")
    func share() async throws {
        try await TestServer.run { server in
            try await server.store("/Notes/Trip%20%231.md", "Tuesday: <rain>")
            let answer = try await server.post("/1/shares/auto/notes/trip%20%231.md?short_url=false&locale=en")
            #expect(answer.status == 200)
            #expect(try answer.names() == ["expires", "location", "url", "visibility"])
            #expect(try answer.text("visibility") == "PUBLIC")
            #expect(APIDate(try answer.text("expires")) != nil)
            let again = try await server.get("/1/shares/dropbox/Notes/Trip%20%231.md")
            #expect(try again.text("url") == answer.text("url"))
            let target = try target(answer, server)
            #expect(target.hasPrefix("/s/") && target.hasSuffix("/Trip%20%231.md"))
            #expect(target.split(separator: "/")[1].count == 32)
            let page = try await server.send("GET \(target)", [])
            #expect(page.status == 200 && page["Content-Type"] == "text/html; charset=utf-8")
            #expect(page.text.contains("Tuesday: &lt;rain&gt;") && !page.text.contains("<rain>"))
            #expect(page.text.hasSuffix("</html>\n") && page.text.contains(" UTC</time></p>"))
            #expect(page.text.contains("<script type=\"module\" src=\"\(WebFile.timeScript.address)\"></script>"))
            let bytes = try await server.send("GET \(target)?dl=1", [])
            #expect(bytes.status == 200 && bytes.text == "Tuesday: <rain>")
            #expect(bytes["X-Dropbox-Metadata"] == nil, "the path above a shared file is nobody's business")
            #expect(bytes["Content-Disposition"] == "attachment; filename*=UTF-8''Trip%20%231.md")
            let part = try await server.send("GET \(target)?dl=1", ["Range: bytes=0-6"])
            #expect(part.status == 206 && part.text == "Tuesday")
            let head = try await server.send("HEAD \(target)", [])
            #expect(head.status == 200 && head.body.isEmpty)
        }
    }

    @Test("a shared file's name turns nothing around on its page but itself")
    func turningName() async throws {
        try await TestServer.run { server in
            try await server.store("/Club/a%E2%80%AEdm.b", "one")
            let folder = try target(try await server.post("/1/shares/auto/club"), server)
            let page = try await server.send("GET \(folder)", [])
            #expect(page.text.contains("<bdi>a\u{202E}dm.b</bdi></a>"), "\(page.text)")
            let file = try target(try await server.post("/1/shares/auto/club/a%E2%80%AEdm.b"), server)
            #expect(try await server.send("GET \(file)", []).text.contains("<h1><bdi>a\u{202E}dm.b</bdi></h1>"))
        }
    }

    @Test("a share's name in the URL does not matter, its secret does; it gives what is there now")
    func secret() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            let target = try target(try await server.post("/1/shares/auto/a.md"), server)
            let secret = String(target.split(separator: "/")[1])
            #expect(try await server.send("GET /s/\(secret)?dl=1", []).text == "one")
            #expect(try await server.send("GET /s/\(secret)/other?dl=1", []).text == "one")
            try await server.store("/a.md", "two")
            #expect(try await server.send("GET \(target)?dl=1", []).text == "two")
            let other = String(secret.dropLast()) + (secret.hasSuffix("0") ? "1" : "0")
            for wrong in ["/s", "/s/x", "/s/\(other)/a.md", "/s/\(secret)/a.md/below", "/s/\(secret)/a.md/..%2Fb"] {
                let answer = try await server.send("GET \(wrong)", [])
                #expect(answer.status == 404, "\(wrong)")
                #expect(answer["Content-Type"] == "text/html; charset=utf-8")
            }
            #expect(try await server.send("POST \(target)", []).status == 405)
            #expect(try await server.post("/1/fileops/delete", "path=/a.md").status == 200)
            #expect(try await server.send("GET \(target)?dl=1", []).status == 404)
        }
    }

    @Test("a shared folder lists what is in it, and nothing of it leads outside")
    func folder() async throws {
        try await TestServer.run { server in
            try await server.store("/Club/Day%201/a.md", "one")
            try await server.store("/secret.md", "hidden")
            let target = try target(try await server.post("/1/shares/auto/club"), server)
            let page = try await server.send("GET \(target)", [])
            #expect(page.status == 200 && page.text.contains("<a href=\"\(target)/Day%201\">"))
            #expect(page.text.contains("<bdi>Day 1</bdi></a>"))
            #expect(!page.text.contains("secret.md"))
            #expect(try await server.send("GET \(target)/Day%201", []).text.contains("a.md"))
            #expect(try await server.send("GET \(target)/Day%201/a.md?dl=1", []).text == "one")
            for outside in ["/../secret.md?dl=1", "/%2e%2e/secret.md?dl=1", "/none"] {
                #expect(try await server.send("GET \(target)\(outside)", []).status == 404, "\(outside)")
            }
        }
    }

    @Test("a page escapes names scalar by scalar, runs nothing, and is not cached, framed or indexed")
    func escaping() async throws {
        try await TestServer.run { server in
            // A quotation mark with an accent is one character, but a browser sees the mark.
            let name = "a\"\u{301}onerror='x'<b>&.jpg"
            _ = try await server.send(
                "PUT /1/files_put/auto/f/\(PercentEncoding.encode(name))", body: Fixture.bytes("panoramas/dated.jpg"))
            let folder = try target(try await server.post("/1/shares/auto/f"), server)
            let list = try await server.send("GET \(folder)", [])
            let page = try await server.send("GET \(folder)/\(PercentEncoding.encode(name))", [])
            for answer in [list, page] {
                #expect(answer.text.contains("a&quot;\u{301}onerror=&#39;x&#39;&lt;b&gt;&amp;.jpg"))
                #expect(
                    !answer.text.contains("<b>") && !answer.text.unicodeScalars.contains("\u{22}\u{301}".unicodeScalars)
                )
                #expect(answer["X-Content-Type-Options"] == "nosniff" && answer["Referrer-Policy"] == "no-referrer")
                #expect(answer["X-Robots-Tag"] == "noindex" && answer["Cache-Control"] == "private, no-cache")
                let policy = answer["Content-Security-Policy"] ?? ""
                #expect(policy.hasPrefix("default-src 'none';") && policy.contains("frame-ancestors 'none'"))
            }
            #expect(
                page.text.contains("<figure class=\"viewer\" data-kind=\"") && !page.text.contains("data-kind=\"\""))
            let picture = try await server.send("GET \(folder)/\(PercentEncoding.encode(name))?picture=1", [])
            #expect(picture["Content-Type"] == "image/jpeg" && picture.body.starts(with: [0xFF, 0xD8]))
            let bytes = try await server.send("GET \(folder)/\(PercentEncoding.encode(name))?dl=1", [])
            #expect(
                bytes["Content-Security-Policy"] == "sandbox; default-src 'none'"
                    && bytes["X-Content-Type-Options"] == "nosniff")
        }
    }

    @Test("a link ends with its time, whoever asks for it again meanwhile")
    func expiry() async throws {
        let clock = Clock()
        try await TestServer.run(clock: clock) { server in
            try await server.store("/a.md", "one")
            let first = try await server.post("/1/shares/auto/a.md")
            let week: Int64 = 7 * 86_400
            #expect(APIDate(try first.text("expires"))?.seconds == clock.now.seconds + week)
            clock.advance(week - 1)
            let target = try target(first, server)
            #expect(try await server.send("GET \(target)", []).status == 200)
            let second = try await server.post("/1/shares/auto/a.md")
            #expect(try second.text("url") == first.text("url") && second.text("expires") == first.text("expires"))
            clock.advance(1)
            #expect(try await server.send("GET \(target)", []).status == 404)
            #expect(try await server.post("/1/shares/auto/a.md").text("url") != first.text("url"))
        }
    }

    @Test("links survive a restart; those of a removed member end, and another member has others")
    func members() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            let ben = try await server.add("Ben", .editor)
            let share = try await server.send("POST /1/shares/auto/a.md", [ben])
            #expect(try await server.post("/1/shares/auto/a.md").text("url") != share.text("url"))
            let media = try await server.send("POST /1/media/auto/a.md", [ben])
            let reference = try await server.send("GET /1/copy_ref/auto/a.md", [ben]).text("copy_ref")
            let (page, bytes) = (try target(share, server), try target(media, server))
            let secret = String(page.split(separator: "/")[1])
            let beside = try SQLiteStore(
                directory: server.directory, mode: .administration, now: server.store.now,
                logger: server.store.logger)
            #expect(try await beside.entry(.share, secret: secret, below: "")?.path.string == "/a.md")
            try beside.close()
            try await server.store.removeMember(name: "Ben")
            #expect(try await server.send("GET \(page)", []).status == 404)
            #expect(try await server.send("GET \(bytes)", []).status == 404)
            let copied = try await server.post("/1/fileops/copy", "from_copy_ref=\(reference)&to_path=/b.md")
            #expect(copied.status == 404)
        }
    }

    @Test("a media link gives the bytes for four hours without an account, also in parts, and cannot be made up")
    func media() async throws {
        let clock = Clock()
        try await TestServer.run(clock: clock) { server in
            try await server.store("/n/clip.html", "<script>")
            let answer = try await server.post("/1/media/auto/n/clip.html")
            #expect(try answer.names() == ["expires", "url"])
            #expect(APIDate(try answer.text("expires"))?.seconds == clock.now.seconds + 4 * 3600)
            let target = try target(answer, server)
            #expect(target.hasPrefix("/1/view/") && target.hasSuffix("/clip.html"))
            let whole = try await server.send("GET \(target)", [])
            #expect(whole.status == 200 && whole.text == "<script>" && whole["X-Dropbox-Metadata"] == nil)
            #expect(
                whole["Content-Security-Policy"] == "sandbox; default-src 'none'",
                "what members store is no page of this server"
            )
            let part = try await server.send("GET \(target)", ["Range: bytes=1-6"])
            #expect(part.status == 206 && part.text == "script")
            try await server.store("/n/clip.html", "later")
            #expect(try await server.send("GET \(target)", []).text == "<script>", "a player goes on where it was")
            let secret = String(target.split(separator: "/")[2])
            #expect(secret.count == 32)
            let page = try self.target(try await server.post("/1/shares/auto/n/clip.html"), server)
            for wrong in [
                secret.dropLast() + (secret.hasSuffix("0") ? "1" : "0"), page.split(separator: "/")[1], "x", "---",
            ] {
                #expect(try await server.send("GET /1/view/\(wrong)/clip.html", []).status == 404, "\(wrong)")
            }
            #expect(try await server.send("GET /1/view", []).status == 404)
            clock.advance(4 * 3600)
            #expect(try await server.send("GET \(target)", []).status == 404)
            let fresh = try self.target(try await server.get("/1/media/auto/n/clip.html"), server)
            #expect(try await server.post("/1/fileops/delete", "path=/n").status == 200)
            #expect(try await server.send("GET \(fresh)", []).status == 404)
        }
    }

    @Test("a copy reference copies a file or a folder for any member")
    func copyReference() async throws {
        try await TestServer.run { server in
            try await server.store("/f/a.md", "one")
            let ben = try await server.add("Ben", .editor)
            let answer = try await server.send("GET /1/copy_ref/auto/f", [ben])
            #expect(try answer.names() == ["copy_ref", "expires"])
            let reference = try answer.text("copy_ref")
            #expect(!reference.contains("/") && !reference.contains("."))
            #expect(try await server.send("POST /1/copy_ref/auto/F", [ben]).text("copy_ref") == reference)
            let copied = try await server.post("/1/fileops/copy", "root=auto&from_copy_ref=\(reference)&to_path=/g")
            #expect(try copied.decoded(Metadata.self).path.string == "/g")
            #expect(try await server.get("/1/files/auto/g/a.md").text == "one")
            let share = try await server.post("/1/shares/auto/f").text("url").split(separator: "/")[3]
            let other = try await server.post("/1/fileops/copy", "from_copy_ref=\(share)&to_path=/h")
            #expect(other.status == 404, "a share is no copy reference")
        }
    }

    @Test(
        "what cannot be linked is refused as the protocol says",
        arguments: [
            ("shares", "", 400), ("shares", "/none", 404), ("shares", "/gone.md", 404), ("shares", "/f", 200),
            ("media", "", 400), ("media", "/f", 400), ("media", "/none", 404), ("media", "/gone.md", 404),
            ("copy_ref", "", 400), ("copy_ref", "/none", 404), ("copy_ref", "/gone.md", 404),
            ("shares", "/f?short_url=maybe", 400),
        ])
    func refusals(operation: String, path: String, status: Int) async throws {
        try await TestServer.run { server in
            try await server.store("/f/a.md")
            try await server.store("/gone.md")
            #expect(try await server.post("/1/fileops/delete", "path=/gone.md").status == 200)
            let answer = try await server.post("/1/\(operation)/auto\(path)")
            #expect(answer.status == status)
            if status == 400, path.isEmpty { #expect(try answer.refusal().hasPrefix("path: ")) }
            if status == 404 { #expect(try answer.refusal().contains("not found")) }
        }
    }

    @Test("neither the log nor a page of the server tells a link's secret")
    func log() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            let page = try target(try await server.post("/1/shares/auto/a.md"), server)
            let bytes = try target(try await server.post("/1/media/auto/a.md"), server)
            let secret = page.split(separator: "/")[1]
            let encoded = "%" + String(secret.utf8.first ?? 0, radix: 16) + secret.dropFirst()
            for target in [page, bytes, "/s/\(encoded)/a.md", page + "%zz", bytes + "%zz"] {
                _ = try await server.send("GET \(target)", [])
            }
            _ = try await server.send("POST \(page)", [])
            let mark = String(bytes.split(separator: "/")[2].suffix(32))
            for line in try await server.log.lines(atLeast: 9) {
                #expect(!line.contains(secret) && !line.contains(secret.dropFirst()) && !line.contains(mark), "\(line)")
            }
        }
    }

    @Test("links begin with the public URL when the operator set one")
    func publicURL() async throws {
        try await TestServer.run(adjusting: { $0.settings.publicURL = "https://club.example/" }) { server in
            try await server.store("/a.md", "one")
            #expect(try await server.post("/1/shares/auto/a.md").text("url").hasPrefix("https://club.example/s/"))
            #expect(try await server.post("/1/media/auto/a.md").text("url").hasPrefix("https://club.example/1/view/"))
        }
    }
}

import ByteClubCore
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

/// Names, notes, captions and cameras that would like to be more than text.
@Suite("Hostile contents on all pages") struct HostileContentTests {
    private static let marks = "\"'><img src=x onerror=alert(1)><script>alert(2)</script>"

    /// Names of files, without their ends.
    private static let names = [
        "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)", "javascript:alert(1)", "data:text,html",
        "\u{202E}gpj.exe", "a\u{2066}b", "{{csrf}}{{{own}}}", "<", "<!--", "]]>", "-->", "%2e%2e%2f", "?x=1#y",
        "&lt;b&gt;", "..;", "CON", "\u{2028}", "\u{FEFF}mark", "👨‍👩‍👧‍👦", "\"\u{301}><b>", "=cmd", "a,b 1x",
        "-", "--", "x\u{301}\u{301}\u{301}\u{301}", "$(id)`id`", "\u{200B}", "e\u{0}".filter { $0 != "\0" } + " e",
    ]

    private static let notes = [
        "# \(marks)\n\n\(marks)\n\n[\(marks)](javascript:alert(1)) [x](data:text/html,x) [y](//evil.example) "
            + "![z](https://evil.example/x.jpg) ![z](//evil.example/x.jpg) <https://x\"onclick=1> [v](vbscript:x) "
            + "[t](JaVaScRiPt:x) [n](java\tscript:x) [e](&#106;avascript:x) [q](x\"onload=1) [p](a%22b.md)",
        "---\nview: \"><b>\n---\n\(marks)\n\nat 1,2: [\(marks)](javascript:alert(1))\nat 3,4: [x](//evil.example/a.jpg)\n",
        "|\(marks)|b|\n|-|-|\n|\(marks)|`\(marks)`|\n\n- [ ] \(marks)\n- [x] \(marks)\n\n```\"onload=1\n\(marks)\n```\n",
        "\u{202E}\(marks)\u{2028}\(marks)\u{0}\(marks)".replacing("\0", with: "\u{1}"),
    ]

    private static func address(_ path: String) -> String {
        path.utf8.split(separator: UInt8(ascii: "/")).map { "/" + PercentEncoding.encode(String(Substring($0))) }
            .joined()
    }

    private static func put(_ path: String, _ bytes: [UInt8], _ server: TestServer) async throws {
        let answer = try await server.send("PUT /1/files_put/auto\(address(path))", body: bytes)
        #expect(answer.status == 200, "\(path): \(answer.text)")
    }

    /// A photo whose camera and time are markup.
    private static func photo(_ number: Int) -> [UInt8] {
        DatedPhoto.bytes(Fixture.bytes("panoramas/portrait.jpg"), taken: marks, offset: "\"><b>")
            + [UInt8(truncatingIfNeeded: number)]
    }

    private static func check(_ answer: RawMessage, _ name: String) throws {
        #expect(answer.status < 500, "\(name): \(answer.start)")
        for field in answer.fields {
            #expect(field.value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x7F }, "\(name) \(field)")
        }
        let type = answer["Content-Type"] ?? ""
        if type.hasPrefix("text/html") {
            let faults = PageMarkup(answer.text).faults
            #expect(faults.isEmpty, "\(name): \(faults.prefix(5))")
            #expect(answer["Content-Security-Policy"]?.contains("default-src 'none'") == true, "\(name)")
        } else if type.contains("json") {
            #expect((try? JSONSerialization.jsonObject(with: Data(answer.body))) != nil, "\(name)")
            #expect(answer["X-Content-Type-Options"] == "nosniff", "\(name)")
        }
    }

    private static func fill(_ server: TestServer) async throws -> [String] {
        var paths: [String] = []
        for (number, name) in names.enumerated() {
            let note = "/byteclub/\(name).md"
            try await put(note, Array(notes[number % notes.count].utf8), server)
            let folder = number % 3 == 0 ? "/byteclub/photos/\(name)" : "/byteclub/photos"
            try await put("\(folder)/\(name).jpg", photo(number), server)
            try await put("\(folder)/\(name).jpg.md", Array(notes[number % notes.count].utf8), server)
            paths += [note, "\(folder)/\(name).jpg"]
        }
        let pictures = names.map { "![\(marks)](photos/\(PercentEncoding.encode($0)).jpg)" }.joined(separator: "\n")
        try await put("/byteclub/story.md", Array("# \(marks)\n\n\(pictures)".utf8), server)
        return paths + ["/byteclub/story.md"]
    }

    @Test("no name, text, caption or camera becomes markup, an address or a header on a page of members")
    func members() async throws {
        try await TestServer.run(adjusting: PageScene.adjust) { server in
            let scene = try await PageScene(server)
            let paths = try await Self.fill(server)
            let words = PercentEncoding.encode(Self.marks)
            var targets = [
                "/gallery", "/gallery?q=alert", "/activity", "/activity?what=\(words)", "/activity/restore?at=0",
                "/activity/restore?at=0&in=\(words)", "/gallery?q=\(words)", "/gallery?near=\(words)", "/albums",
                "/notes",
                "/gallery/items?limit=200", "/gallery/index", "/account", "/members", "/gallery?show=notes",
                "/notes/new?name=\(words)", "/add?folder=\(words)", "/login?next=\(words)",
                "/login?next=//evil.example",
                "/device?code=\(words)", "/gallery/\(words)", "/gallery/\(words).md", "/nowhere/\(words)",
                "/albums/\(words)", "/notes?deleted=\(words)&rev=100000001", "/gallery/items?in=\(words)",
                "/oauth2/authorize?client_id=\(words)", "/invite/\(words)", "/reset/\(words)", "/gallery?from=\(words)",
            ]
            for path in paths {
                targets.append("/gallery" + Self.address(path))
                if path.hasSuffix(".md") { targets.append("/notes/history" + Self.address(path)) }
                if let parent = try RemotePath(path).parent { targets.append("/albums" + Self.address(parent.string)) }
            }
            for caller in [PageScene.Caller.owner, .viewer] {
                let visitor = try #require(scene.visitors[caller])
                for target in targets where caller == .owner || !target.contains("history") {
                    try Self.check(
                        try await server.send("GET \(target)", visitor.fields + ["Accept: text/html"]), "\(target)")
                }
            }
            for path in paths where path.hasSuffix(".jpg") {
                let answer = try await server.send(
                    "GET /gallery" + Self.address(path), try #require(scene.visitors[.owner]).fields)
                #expect(answer.status == 200, "\(path)")
            }
        }
    }

    @Test("nor in what forms show again, in words for scripts and in the addresses that they lead to")
    func forms() async throws {
        try await TestServer.run(adjusting: PageScene.adjust) { server in
            let scene = try await PageScene(server)
            _ = try await Self.fill(server)
            let editor = try #require(scene.visitors[.editor])
            let photo = "/byteclub/photos" + Self.address("/\(Self.names[1]).jpg")
            for text in Self.notes + [Self.marks, "\r\nSet-Cookie: x=1", "//evil.example", "/\\evil.example"] {
                for (target, fields) in [
                    ("/notes/preview", [("path", "/byteclub/a.md"), ("text", text)]),
                    ("/notes/preview", [("name", text), ("text", text)]),
                    ("/notes/new", [("name", text), ("text", text)]),
                    ("/gallery/byteclub/kept.md", [("text", text), ("parent_rev", "100000001")]),
                    ("/gallery\(photo)", [("text", text)]),
                    ("/gallery\(photo)", [("text", text), ("parent_rev", text)]),
                    ("/notes/move", [("path", "/byteclub/kept.md"), ("rev", "100000001"), ("to", text)]),
                    ("/notes/delete", [("path", text), ("rev", text)]),
                    ("/notes/task", [("path", text), ("rev", "100000001"), ("line", text)]),
                    ("/photo/move\(photo)", [("folder", text), ("name", "")]),
                    ("/photo/view\(photo)", [("view", text)]),
                    ("/photo/spot\(photo)", [("target", text), ("text", text), ("yaw", "1"), ("pitch", "1")]),
                    ("/gallery/upload/commit", [("id", text), ("name", text), ("folder", text)]),
                    ("/gallery/upload/known", [("hashes", text)]), ("/login", [("name", text), ("next", text)]),
                    ("/device", [("code", text)]), ("/members", [("action", "name"), ("club", text)]),
                ] {
                    for accept in ["text/html", "application/json"] {
                        let form = PageScene.Form(target: target, body: .fields(fields))
                        let answer = try await scene.post(
                            form, as: editor, token: editor.token, ["Accept: \(accept)"])
                        try Self.check(answer, "\(target) \(text.debugDescription)")
                        let place = answer["Location"] ?? "/"
                        #expect(place.hasPrefix("/") && !place.hasPrefix("//") && !place.hasPrefix("/\\"), "\(place)")
                    }
                }
            }
        }
    }

    @Test("nor behind links, in what messengers read, in names of downloads and in zip files")
    func links() async throws {
        try await TestServer.run(adjusting: PageScene.adjust) { server in
            let paths = try await Self.fill(server)
            let shared = try await server.post("/1/shares/auto/byteclub").text("url")
            let root = "/" + shared.split(separator: "/").dropFirst(2).joined(separator: "/")
            var targets = [
                root, root + "/photos", root + "/photos?page=9", root + "/x\"><b>".replacing("\"", with: "%22"),
            ]
            for path in paths { targets.append(root + Self.address(String(path.dropFirst("/byteclub".count)))) }
            for path in paths.prefix(8) + ["/byteclub/story.md"] {
                let url = try await server.post("/1/shares/auto\(Self.address(path))").text("url")
                targets.append("/" + url.split(separator: "/").dropFirst(2).joined(separator: "/"))
            }
            for target in targets {
                let answer = try await server.send("GET \(target)", [])
                try Self.check(answer, "\(target)")
                for meta in answer.text.matches(of: /<meta [^>]*content="([^"]*)"/) {
                    #expect(!meta.1.contains("<") && !meta.1.contains("javascript:alert(1)\""))
                }
                if answer.status == 200, target != root, !target.hasSuffix("/photos"), !target.contains("page=") {
                    let file = try await server.send("GET \(target)?dl=1", [])
                    try Self.check(file, "\(target)?dl=1")
                    #expect(
                        file["Content-Disposition"]?.hasPrefix("attachment; filename*=UTF-8''") != false, "\(target)")
                }
            }
            let zip = try await server.send("GET \(root)?dl=1", [])
            #expect(zip.status == 200 && zip["Content-Type"] == "application/zip")
        }
    }
}

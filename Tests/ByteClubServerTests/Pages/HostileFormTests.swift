import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Forms with values that no page sends") struct HostileFormTests {
    private static func run(
        _ body: @escaping @Sendable (PageScene, PageScene.Visitor) async throws -> Void
    ) async throws {
        try await TestServer.run(adjusting: PageScene.adjust) { server in
            let scene = try await PageScene(server)
            try await body(scene, try #require(scene.visitors[.editor]))
        }
    }

    @Test("a file's time that is none, or outside of all years, is refused or left out, whatever it is")
    func times() async throws {
        try await Self.run { scene, editor in
            for (time, status) in [
                ("-9223372036854775808", 400), ("9223372036854775807", 400), ("9007199254740992", 400),
                ("9007199254740991", 200), ("-9007199254740991", 200), ("-1", 200), ("0", 200), ("1e5", 400),
                ("x", 400), ("99999999999999999999", 400), ("", 200),
            ] {
                let form = PageScene.Form(
                    target: "/gallery/upload/commit",
                    body: .fields([
                        ("id", try await scene.upload(by: editor)), ("name", "t\(scene.next()).md"),
                        ("modified", time),
                    ]))
                let answer = try await scene.post(form, as: editor, token: editor.token)
                #expect(answer.status == status, "\(time): \(answer.start) \(answer.text)")
            }
            #expect(try await scene.get(PageScene.Form(target: "/gallery"), as: editor).status == 200)
        }
    }

    @Test("places, cursors, offsets and lines at the ends of their types are answered")
    func numbers() async throws {
        try await Self.run { scene, editor in
            _ = try await scene.photo()
            let extremes = ["9223372036854775807", "-9223372036854775808", "0", "-1", "99999999999999999999", "nan"]
            for number in extremes {
                for target in [
                    "/gallery?before=\(number).\(number)", "/gallery?after=\(number).\(number)",
                    "/gallery/index?since=\(number)", "/gallery/items?limit=\(number)", "/gallery?who=\(number)",
                    "/gallery/items?before=\(number).0&limit=200", "/gallery?near=\(number),\(number),\(number)",
                    "/gallery?from=\(number)", "/notes/history/byteclub/kept.md?rev=\(number)",
                    "/activity?before=\(number)", "/activity?who=\(number)", "/activity/restore?at=\(number)",
                    "/activity/restore?at=9999-12-31T23:59&zone=-1440",
                    "/activity/restore?at=0001-01-01T00:00&zone=1440",
                    "/gallery?near=90,180,1e-300", "/gallery?near=-90,-180,20040", "/gallery?to=9999-12",
                    "/gallery?from=0000-01", "/gallery?near=1e400,0", "/gallery?near=,,",
                ] {
                    let answer = try await scene.get(PageScene.Form(target: target), as: editor)
                    #expect([200, 400, 404].contains(answer.status), "\(target): \(answer.start)")
                }
                for (target, fields) in [
                    ("/notes/task", [("path", "/byteclub/kept.md"), ("rev", "100000001"), ("line", number)]),
                    ("/activity/restore", [("at", "0"), ("seen", number), ("in", "/byteclub/none")]),
                    ("/revoke", [("device", number)]), ("/links/revoke", [("link", number)]),
                    ("/photo/spot/byteclub/photos/p1.jpg", [("yaw", number), ("pitch", number), ("target", "a.jpg")]),
                    ("/photo/share/byteclub/photos/p1.jpg", [("days", number)]),
                ] {
                    let answer = try await scene.post(
                        PageScene.Form(target: target, body: .fields(fields)), as: editor, token: editor.token)
                    #expect([200, 303, 400, 404, 409].contains(answer.status), "\(target) \(number): \(answer.start)")
                }
                let piece = PageScene.Form(target: "/gallery/upload/piece?offset=\(number)", body: .piece([1]))
                let answer = try await scene.post(piece, as: editor, token: editor.token)
                #expect([200, 400, 404, 409].contains(answer.status), "\(number): \(answer.start)")
            }
        }
    }

    @Test("a caption is not saved over a note that is too long to be read here, and so loses none of its spots")
    func longCaption() async throws {
        try await Self.run { scene, editor in
            let photo = try await scene.photo()
            let long = String(repeating: "word ", count: 5000) + "\n\nat 10,0: [there](../kept.md)\n"
            let note = try await scene.server.store(photo.path + ".md", long)
            let form = PageScene.Form(
                target: "/gallery" + photo.path,
                body: .fields([("text", "short"), ("parent_rev", "\(try #require(note.rev))")]))
            let answer = try await scene.post(form, as: editor, token: editor.token)
            #expect(answer.status == 400 && answer.text.contains("too long to change here"))
            #expect(answer.text.contains("short"), "the text is not lost")
            #expect(try await scene.server.get("/1/files/auto\(photo.path).md").text == long)
        }
    }

    @Test("a spot's text makes no second line in the note")
    func spotText() async throws {
        try await Self.run { scene, editor in
            let photo = try await scene.photo()
            let form = PageScene.Form(
                target: "/photo/spot" + photo.path,
                body: .fields([
                    ("yaw", "1"), ("pitch", "1"), ("target", "../kept.md"),
                    ("text", "a\n---\nview: sphere\n---\r\n](https://evil.example)\u{2028}b\u{85}c"),
                ]))
            #expect(try await scene.post(form, as: editor, token: editor.token).status < 500)
            let note = try await scene.server.get("/1/files/auto\(photo.path).md")
            let lines = note.text.split(whereSeparator: \.isNewline)
            #expect(note.status == 404 || (lines.count == 1 && PhotoCaption(note: note.text).view == nil))
        }
    }

    @Test("two editors of one note, one photo and one caption lose nothing that is not in the history")
    func twoEditors() async throws {
        try await Self.run { scene, editor in
            let owner = try #require(scene.visitors[.owner])
            func post(_ target: String, _ fields: [(String, String)], _ visitor: PageScene.Visitor) async throws -> Int
            {
                try await scene.post(
                    PageScene.Form(target: target, body: .fields(fields)), as: visitor, token: visitor.token
                ).status
            }
            scene.isUsed = true
            let note = try await scene.note()
            // Both read the same version.
            #expect(try await post("/gallery\(note.path)", [("text", "a"), ("parent_rev", note.rev)], editor) == 303)
            #expect(try await post("/gallery\(note.path)", [("text", "b"), ("parent_rev", note.rev)], owner) == 409)
            #expect(try await post("/gallery\(note.path)", [("text", "c")], owner) == 409)
            #expect(try await post("/notes/delete", [("path", note.path), ("rev", note.rev)], owner) == 409)
            #expect(
                try await post("/notes/task", [("path", note.path), ("rev", note.rev), ("line", "2")], owner) == 409)
            #expect(try await scene.server.get("/1/files/auto\(note.path)").text == "a")
            // A name that is taken overwrites nothing.
            let other = try await scene.note()
            let name = try #require(note.path.split(separator: "/").last)
            let move = [("path", other.path), ("rev", other.rev), ("to", String(name))]
            #expect(try await post("/notes/move", move, owner) == 403)
            let (photo, second) = (try await scene.photo(), try await scene.photo())
            let taken = try #require(photo.path.split(separator: "/").last)
            #expect(try await post("/photo/move\(second.path)", [("name", String(taken))], owner) == 403)
            try await scene.server.store(photo.path + ".md", "kept caption")
            #expect(try await post("/gallery\(photo.path)", [("text", "mine")], owner) == 409)
            #expect(try await scene.server.get("/1/files/auto\(photo.path).md").text == "kept caption")
        }
    }

    @Test("a caption shows no other photo in a story that is made of its own, and ends no picture")
    func storyCaption() throws {
        let photo = try RemotePath("/byteclub/photos/a.jpg")
        for caption in [
            "x](/secret.jpg) ![y", "[\u{301}x](/secret.jpg)", "]\u{301}(/secret.jpg)", "\\](/secret.jpg)",
            "`](/secret.jpg)`",
            "\n\n![](/secret.jpg)\n\n", "<https://x>![](/secret.jpg)", "\\\u{301}](/secret.jpg)",
        ] {
            let story = Story(title: caption, photos: [(photo, caption)], at: try RemotePath("/byteclub/story.md"))
            #expect(Markdown(story.text).relativeTargets == ["photos/a.jpg"], "\(caption): \(story.text)")
        }
    }
}

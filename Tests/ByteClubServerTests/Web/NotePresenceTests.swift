import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Who edits a note")
struct NotePresenceTests {
    private static let note = PathKey(folded: "/a.md")
    private static let other = PathKey(folded: "/b.md")

    @Test("a heartbeat counts for half a minute, in its note, and for everybody but its sender")
    func lifetime() {
        var presence = NotePresence()
        presence.beat(1, in: Self.note, at: 100)
        presence.beat(2, in: Self.note, at: 110)
        #expect(presence.members(in: Self.note, besides: 1, at: 110) == [2])
        #expect(presence.members(in: Self.note, besides: 3, at: 129) == [1, 2])
        #expect(presence.members(in: Self.note, besides: 3, at: 130) == [2])
        #expect(presence.members(in: Self.other, besides: 3, at: 110).isEmpty)
        presence.beat(1, in: Self.note, at: 131)
        #expect(presence.members(in: Self.note, besides: 3, at: 139) == [1, 2])
        #expect(presence.members(in: Self.note, besides: 3, at: 140) == [1])
        presence.beat(1, in: Self.note, at: 90)
        #expect(presence.members(in: Self.note, besides: 3, at: 80).isEmpty, "the clock was set back")
    }

    @Test("who closes the editor leaves that note, and who is removed leaves all")
    func leaving() {
        var presence = NotePresence()
        for note in [Self.note, Self.other] {
            for member in [1, 2] as [Int64] { presence.beat(member, in: note, at: 0) }
        }
        presence.leave(1, Self.note)
        #expect(presence.members(in: Self.note, besides: 0, at: 1) == [2])
        #expect(presence.members(in: Self.other, besides: 0, at: 1) == [1, 2])
        presence.forget(2)
        #expect(presence.members(in: Self.note, besides: 0, at: 1).isEmpty)
        #expect(presence.members(in: Self.other, besides: 0, at: 1) == [1])
    }

    @Test("a note has sixteen members and a server a thousand, and the least recent are dropped")
    func bounds() {
        var presence = NotePresence()
        for member in 1...20 as ClosedRange<Int64> { presence.beat(member, in: Self.note, at: 0) }
        #expect(presence.members(in: Self.note, besides: 0, at: 0) == Array(5...20))
        presence.beat(5, in: Self.note, at: 1)
        presence.beat(21, in: Self.note, at: 1)
        #expect(presence.members(in: Self.note, besides: 0, at: 1) == [5] + Array(7...21))
        for number in 0..<2000 { presence.beat(1, in: PathKey(folded: "/\(number).md"), at: 2) }
        #expect(presence.count == 1000)
        #expect(presence.members(in: Self.note, besides: 0, at: 2).isEmpty)
        #expect(presence.members(in: PathKey(folded: "/1999.md"), besides: 0, at: 2) == [1])
        presence.beat(1, in: Self.note, at: 40)
        #expect(presence.count == 1, "what does not count is not kept")
    }

    /// What the server answers to the heartbeat of a page that a browser shows.
    private static func beat(
        _ server: TestServer, _ browser: Browser, _ path: String, rev: String = "", editing: String? = nil
    ) async throws -> RawMessage {
        let fields = ["Cookie: \(browser.cookie ?? "")", "Accept: application/json"]
        guard let editing else { return try await server.send("GET /notes/presence?path=\(path)&rev=\(rev)", fields) }
        let token = browser.page.firstMatch(of: /csrf="([0-9a-f]+)"/)?.1 ?? ""
        let body = "csrf=\(token)&path=\(path)&rev=\(rev)&editing=\(editing)"
        return try await server.send(
            "POST /notes/presence", fields + ["Content-Type: application/x-www-form-urlencoded"],
            body: Array(body.utf8))
    }

    @Test("pages of members learn who edits, the page of a viewer too, which itself can say nothing")
    func shown() async throws {
        let clock = Clock()
        try await TestServer.run(clock: clock) { server in
            try await server.store("/a.md", "one")
            var ann = try await GalleryTests.browser(server)
            var ben = try await GalleryTests.browser(server, "Ben <b>", .editor)
            var vera = try await GalleryTests.browser(server, "Vera", .viewer)
            try await ann.open("/gallery/a.md")
            try await ben.open("/gallery/a.md")
            try await vera.open("/gallery/a.md")
            #expect(!vera.page.contains("is editing"))
            #expect(try await Self.beat(server, ben, "/a.md", editing: "1").text.contains(#""editing":[]"#))
            for browser in [ann, vera] {
                let answer = try await Self.beat(server, browser, "/A.md")
                #expect(answer.text.contains(#""editing":["Ben <b>"]"#) && answer["Cache-Control"] == "no-store")
            }
            try await vera.open("/gallery/a.md")
            #expect(vera.page.contains("aria-hidden=\"true\">B</span><bdi>Ben &lt;b&gt;</bdi> is editing</span>"))
            #expect(try await Self.beat(server, vera, "/a.md", editing: "1").status == 403)
            #expect(try await Self.beat(server, ben, "/a.md").text.contains(#""editing":[]"#), "not oneself")
            clock.advance(30)
            #expect(try await Self.beat(server, ann, "/a.md").text.contains(#""editing":[]"#))
            _ = try await Self.beat(server, ben, "/a.md", editing: "1")
            _ = try await Self.beat(server, ben, "/a.md", editing: "")
            #expect(try await Self.beat(server, ann, "/a.md").text.contains(#""editing":[]"#))
            _ = try await Self.beat(server, ben, "/a.md", editing: "1")
            try await server.store.removeMember(name: "Ben <b>")
            #expect(try await Self.beat(server, ann, "/a.md").text.contains(#""editing":[]"#))
            var forged = ann
            try await forged.send("/notes/presence", ["csrf": "0", "path": "/a.md", "editing": "1"])
            #expect(forged.status == 403)
            #expect(try await server.send("GET /notes/presence?path=/a.md", []).status == 303)
            for path in ["/none.jpg", "", "/a/../b.md"] {
                #expect(try await Self.beat(server, ann, path).status == 404, "\(path)")
            }
        }
    }

    @Test(
        "a page learns of a newer version with its text and member, and that a note is gone"
    )
    func versions() async throws {
        try await TestServer.run { server in
            let first = try #require(try await server.store("/a.md", "one").rev).description
            let ann = try await GalleryTests.browser(server)
            let same = try await Self.beat(server, ann, "/a.md", rev: first)
            #expect(try same.text("rev") == first && !same.text.contains("\"text\""))
            let second = try #require(try await server.store("/a.md", "two <b>\"\n").rev).description
            let newer = try await Self.beat(server, ann, "/a.md", rev: first)
            #expect(try newer.text("rev") == second && newer.text("text") == "two <b>\"\n")
            #expect(try newer.text("author") == "Ann Bell")
            try await server.store("/a.md", String(repeating: "x", count: Draft.shownLimit + 1))
            let long = try await Self.beat(server, ann, "/a.md", rev: second)
            #expect(try long.text("rev") != second && !long.text.contains("\"text\""))
            #expect(try await Self.beat(server, ann, "/gone.md").text == #"{"editing":[]}"#)
        }
    }

    @Test("heartbeats write nothing to the database")
    func unwritten() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            var ann = try await GalleryTests.browser(server)
            try await ann.open("/gallery/a.md")
            let before = server.store.statistics.commits.changes
            for _ in 0..<20 { #expect(try await Self.beat(server, ann, "/a.md", editing: "1").status == 200) }
            // Housekeeping may have its own.
            #expect(server.store.statistics.commits.changes - before < 10)
        }
    }
}

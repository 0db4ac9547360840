import ByteClubCore
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The activity of the club") struct ActivityTests {
    // MARK: - Groups

    private static func changes(_ count: Int, using generator: inout SeededGenerator) throws -> [HistoryChange] {
        var time: Int64 = 1_000_000
        let changes = try (1...Int64(count)).map { number in
            time += [0, 1, 5, 600, 901, 90_000].randomElement(using: &generator) ?? 0
            let folder = ["", "/a", "/b/c"].randomElement(using: &generator) ?? ""
            let name = ["x.jpg", "x.jpg.md", "y.md", "z.pdf", "dir"].randomElement(using: &generator) ?? ""
            let path = try RemotePath("\(folder)/\(name)")
            let author = Int64.random(in: 1...3, using: &generator)
            let entry = FolderEntry(
                path: path, isFolder: name == "dir", revision: number, modified: APIDate(seconds: time),
                author: author)
            let actions: [HistoryChange.Action] = [.added, .edited, .moved, .removed, .restored]
            return HistoryChange(entry, actions.randomElement(using: &generator) ?? .added, by: "m\(author)")
        }
        return changes.reversed()
    }

    @Test("groups have each change once, in order, of one member, kind and day, and close to each other")
    func groups() throws {
        for seed in UInt64(0)..<200 {
            var generator = SeededGenerator(seed: seed)
            let changes = try Self.changes(Int.random(in: 1...80, using: &generator), using: &generator)
            let groups = ActivityGroup.groups(of: changes)
            #expect(groups.flatMap(\.changes).sorted { $0.sequence > $1.sequence } == changes)
            #expect(groups.map(\.newest.sequence) == groups.map(\.newest.sequence).sorted(by: >))
            for group in groups {
                #expect(Set(group.changes.map(\.author)).count == 1 && Set(group.changes.map(\.action)).count == 1)
                #expect(group.changes.map(\.sequence) == group.changes.map(\.sequence).sorted(by: >))
                #expect(Set(group.changes.map { $0.modified / 86_400 }).count == 1)
                for (newer, older) in zip(group.changes, group.changes.dropFirst()) {
                    #expect(newer.modified - older.modified <= ActivityGroup.gap)
                }
                #expect(group.before == (group.changes.last?.sequence ?? 0) - 1)
                let entries = group.entries
                #expect(Set(entries.map(\.path.key)).count == entries.count)
                #expect(Set(group.changes.map(\.path.key)) == Set(entries.map(\.path.key)))
            }
            // Wherever a page ends, both have what one has.
            let border = Int.random(in: 0...changes.count, using: &generator)
            let parts = [changes.prefix(border), changes.dropFirst(border)].flatMap { part in
                ActivityGroup.groups(of: Array(part)).flatMap(\.changes)
            }
            #expect(parts.sorted { $0.sequence > $1.sequence } == changes)
        }
    }

    @Test("a group says how much of what it is")
    func phrases() throws {
        func change(_ number: Int64, _ path: String, isFolder: Bool = false) throws -> HistoryChange {
            let entry = FolderEntry(
                path: try RemotePath(path), isFolder: isFolder, revision: number, modified: APIDate(seconds: 7),
                author: 1)
            return HistoryChange(entry, .added, by: "ada")
        }
        let group = try #require(
            ActivityGroup.groups(of: [
                change(6, "/p/b.jpg"), change(5, "/p/a.jpg.md"), change(4, "/p/a.jpg"), change(3, "/p/A.JPG"),
                change(2, "/n.md"), change(1, "/p", isFolder: true),
            ]).first)
        #expect(group.phrase == "2 photos, 1 note and 1 caption")
        #expect(group.folders.map(\.string) == ["/p", "/"])
    }

    @Test("the pages have every change once, and are filtered by member and kind")
    func history() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        for number in 0..<30 {
            try await StoreFixture.put(store, "/n\(number % 10).md", [UInt8(number)], by: Int64(1 + number % 3))
        }
        try await store.read { folder in
            let all = try folder.history(before: nil, after: 0, limit: 1000).changes
            var (paged, before): ([HistoryChange], Int64?) = ([], nil)
            repeat {
                let page = try folder.history(before: before, after: 0, limit: 7)
                paged += page.changes
                before = page.before
            } while before != nil
            #expect(paged == all && all.count == 30)
            #expect(
                try folder.history(before: nil, after: 0, limit: 1000, by: 2).changes
                    == all.filter { $0.author == 2 })
            #expect(
                try folder.history(before: nil, after: 0, limit: 1000) { $0.action == .added }.changes
                    == all.filter { $0.action == .added })
        }
    }

    // MARK: - Pages

    private static let evil = "<img src=x onerror=alert(1)>\"'&.md"

    @Test("the page tells who did what, with pictures, and nothing in a name is markup")
    func page() async throws {
        try await TestServer.run { server in
            let target = "PUT /1/files_put/auto/photos/trip/wide.jpg"
            #expect(try await server.send(target, body: Fixture.bytes("panoramas/phone-strip.jpg")).status == 200)
            try await server.store("/byteclub/\(PercentEncoding.encode(Self.evil))", "x")
            try await server.store("/byteclub/old.md", "x")
            #expect(try await server.post("/1/fileops/delete", "root=auto&path=/byteclub/old.md").status == 200)
            var browser = try await GalleryTests.browser(server)
            try await browser.open("/activity")
            let page = browser.page
            #expect(browser.status == 200 && page.contains("aria-current=\"page\""))
            #expect(page.contains("<bdi>Ann Bell</bdi></b> added") && page.contains("<bdi>Ann Bell</bdi></b> deleted"))
            #expect(page.contains("/512.jpg 512w") && page.contains("photos/trip/wide.jpg</bdi>"))
            #expect(page.contains("/notes/history/byteclub/old.md"))
            #expect(!page.contains("<img src=x") && page.contains("&lt;img src=x"))
            #expect(page.contains("/activity/restore?at=0"))
            try await browser.open("/activity?what=removed&who=\(server.member.uid)")
            #expect(browser.page.contains("old.md") && !browser.page.contains("wide.jpg"))
            try await browser.open("/activity?who=99")
            #expect(browser.page.contains("Nothing like this has happened."))
            try await browser.open("/activity?what=nothing")
            #expect(browser.status == 404)
        }
    }

    @Test("older changes are on further pages, each once")
    func older() async throws {
        try await TestServer.run(clock: Clock()) { server in
            for number in 0..<310 { try await server.store("/n\(number).md", "x") }
            var browser = try await GalleryTests.browser(server)
            try await browser.open("/activity")
            #expect(browser.page.contains("<b><bdi>Ann Bell</bdi></b> added"))
            #expect(browser.page.contains("300 notes") && browser.page.contains("and 240 more"))
            let link = try #require(browser.page.firstMatch(of: /rel="next" href="([^"]*)"/)?.1)
            try await browser.open(String(link).replacingOccurrences(of: "&amp;", with: "&"))
            #expect(browser.page.contains("10 notes") && !browser.page.contains("rel=\"next\""))
        }
    }

    @Test("the preview says what is done, it is done, and Undo undoes it")
    func restore() async throws {
        try await TestServer.run { server in
            try await server.store("/a/keep.md", "one")
            try await server.store("/a/gone.md", "gone")
            let start = try await server.store.read { try $0.state.lastRevision() }
            try await server.store("/a/keep.md", "two")
            try await server.store("/b/\(PercentEncoding.encode(Self.evil))", "new")
            #expect(try await server.post("/1/fileops/delete", "root=auto&path=/a/gone.md").status == 200)
            var browser = try await GalleryTests.browser(server)
            try await browser.open("/activity/restore?at=\(start)")
            #expect(browser.page.contains("1 file comes back, 1 changes back, 1 is removed and 1 folder is put right."))
            #expect(browser.page.contains("<bdi>a/gone.md</bdi>") && browser.page.contains("<bdi>a/keep.md</bdi>"))
            #expect(browser.page.contains("&lt;img src=x") && !browser.page.contains("<img src=x"))
            try await browser.submit("/activity/restore")
            #expect(browser.status == 200)
            let done = "1 file brought back, 1 changed back, 1 removed and 1 folder put right."
            #expect(browser.page.contains(done), "\(browser.page)")
            #expect(browser.page.contains("The club is as it was"))
            #expect(try await server.get("/1/files/auto/a/keep.md").text == "one")
            #expect(try await server.get("/1/files/auto/a/gone.md").text == "gone")
            try await browser.submit("/activity/restore")
            #expect(browser.page.contains("1 changed back") && browser.page.contains("as it was"))
            #expect(try await server.get("/1/files/auto/a/keep.md").text == "two")
            #expect(try await server.get("/1/files/auto/a/gone.md").status == 404)
            let name = PercentEncoding.encode(Self.evil)
            #expect(try await server.get("/1/files/auto/b/\(name)").text == "new")
        }
    }

    @Test("a preview of what has changed since is shown anew, and nothing is done")
    func stale() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            try await server.store("/a.md", "two")
            var browser = try await GalleryTests.browser(server)
            try await browser.open("/activity/restore?at=1")
            try await server.store("/a.md", "three")
            try await browser.submit("/activity/restore")
            #expect(browser.status == 409 && browser.page.contains("Something has changed since you looked"))
            #expect(try await server.get("/1/files/auto/a.md").text == "three")
            try await browser.submit("/activity/restore")
            #expect(browser.status == 200)
            #expect(try await server.get("/1/files/auto/a.md").text == "one")
        }
    }

    @Test("a moment is found by the clock of whoever chooses it")
    func moment() async throws {
        let clock = Clock(APIDate(seconds: 1_795_000_000))
        try await TestServer.run(clock: clock) { server in
            try await server.store("/a.md", "one")
            clock.advance(7200)
            try await server.store("/a.md", "two")
            var browser = try await GalleryTests.browser(server)
            let text = WebSite.fieldText(APIDate(seconds: clock.now.seconds - 3600))
            try await browser.open("/activity/restore?at=\(PercentEncoding.encode(text))")
            #expect(browser.page.contains("1 file changes back."))
            try await browser.open("/activity/restore?at=\(PercentEncoding.encode(text))&zone=-300")
            #expect(browser.page.contains("Nothing is to be done."))
            for bad in ["", "soon", "-1", "2026-02-30T10:00"] {
                try await browser.open("/activity/restore?at=\(PercentEncoding.encode(bad))")
                #expect(browser.status == 400, "\(bad)")
            }
        }
    }

    @Test("viewers look, and restore nothing")
    func viewers() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            try await server.store("/a.md", "two")
            var browser = try await GalleryTests.browser(server, "Vera", .viewer)
            try await browser.open("/activity")
            #expect(browser.status == 200 && !browser.page.contains("/activity/restore"))
            let token = try #require(browser.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1)
            try await browser.open("/activity/restore?at=1")
            #expect(browser.status == 200 && !browser.page.contains("method=\"post\" action=\"/activity/restore\""))
            try await browser.send("/activity/restore", ["csrf": String(token), "at": "1", "seen": "2"])
            #expect(browser.status == 403)
            #expect(try await server.get("/1/files/auto/a.md").text == "two")
            var editor = try await GalleryTests.browser(server, "Ed", .editor)
            try await editor.send("/activity/restore", ["csrf": String(token), "at": "1", "seen": "2"])
            #expect(editor.status == 403, "another's token")
            #expect(try await server.get("/1/files/auto/a.md").text == "two")
        }
    }
}

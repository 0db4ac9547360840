import ByteClubCore
import GRDB
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Links are seen and taken back") struct LinkTakebackTests {
    /// Makes a link and tells the part of its URL after the host.
    private func link(
        _ server: TestServer, _ operation: String, _ path: String, by header: String? = nil, more: String = ""
    ) async throws -> String {
        let answer = try await server.send("POST /1/\(operation)/auto\(path)\(more)", [header ?? server.bearer])
        #expect(answer.status == 200, "\(answer.text)")
        return "/" + (try answer.text("url")).split(separator: "/").dropFirst(2).joined(separator: "/")
    }

    private func links(_ server: TestServer, of header: String? = nil) async throws -> [PublicLink] {
        try await server.send("GET /1/sync/links", [header ?? server.bearer]).decoded(PublicLinkPage.self).links
    }

    /// The bytes behind a link; nil when it leads nowhere.
    private func bytes(_ server: TestServer, _ link: String) async throws -> String? {
        let answer = try await server.send("GET \(link)?dl=1", [])
        #expect([200, 404].contains(answer.status))
        return answer.status == 200 ? answer.text : nil
    }

    @Test("a link that got out opens nothing any more once it was taken back, nor does asking again revive it")
    func takeback() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            let share = try await link(server, "shares", "/a.md")
            let media = try await link(server, "media", "/a.md")
            let seen = try await links(server)
            #expect(seen.map(\.kind) == [.media, .share] && seen.allSatisfy { $0.path.string == "/a.md" })
            #expect(
                seen.map(\.url) == [
                    "http://127.0.0.1:\(server.port)\(media)", "http://127.0.0.1:\(server.port)\(share)",
                ])
            #expect(seen.allSatisfy { $0.member == "Ann Bell" && !$0.url.contains("/\($0.id)/") })
            for shown in seen {
                let answer = try await server.post("/1/sync/links/revoke", "id=\(shown.id)")
                #expect(answer.status == 200 && answer.text == "{}")
                #expect(try await server.post("/1/sync/links/revoke", "id=\(shown.id)").status == 404)
            }
            #expect(try await bytes(server, share) == nil)
            #expect(try await server.send("GET \(share)", []).text.contains("was revoked"))
            #expect(try await bytes(server, media) == nil)
            #expect(try await links(server) == [])
            #expect(try await link(server, "shares", "/a.md") != share)
            #expect(try await link(server, "media", "/a.md") != media)
            #expect(try await bytes(server, share) == nil)
        }
    }

    @Test("an old link does not open what somebody stores at its path later")
    func laterFile() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "for all")
            try await server.store("/f/b.md", "for all")
            let old = [
                try await link(server, "shares", "/a.md"), try await link(server, "media", "/a.md"),
                try await link(server, "shares", "/f") + "/b.md",
            ]
            for path in ["/a.md", "/f"] {
                #expect(try await server.post("/1/fileops/delete", "path=\(path)").status == 200)
            }
            try await server.store("/a.md", "for members")
            try await server.store("/f/b.md", "for members")
            for link in old { #expect(try await bytes(server, link) == nil) }
            #expect(try await links(server) == [])
        }
    }

    @Test("a link goes with its file through renames and moves, and with a folder's")
    func moves() async throws {
        try await TestServer.run { server in
            try await server.store("/f/a.md", "one")
            let links = [
                try await link(server, "shares", "/f/a.md"), try await link(server, "media", "/f/a.md"),
                try await link(server, "shares", "/f") + "/a.md",
            ]
            for (from, to) in [("/f", "/g"), ("/g", "/G"), ("/G", "/h/i")] {
                if to == "/h/i" { #expect(try await server.post("/1/fileops/create_folder", "path=/h").status == 200) }
                #expect(try await server.post("/1/fileops/move", "from_path=\(from)&to_path=\(to)").status == 200)
                for link in links { #expect(try await bytes(server, link) == "one", "\(from) to \(to)") }
            }
            #expect(try await self.links(server).map(\.path.string) == ["/h/i", "/h/i/a.md", "/h/i/a.md"])
            try await server.store("/h/i/a.md", "two")
            #expect(try await bytes(server, links[0]) == "two")
            #expect(try await bytes(server, links[1]) == "one", "a direct link is to one version")
        }
    }

    @Test("a demoted editor's shared links let nobody in, also when the editor is one again")
    func demotion() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            let ben = try await server.add("Ben", .editor)
            let share = try await link(server, "shares", "/a.md", by: ben)
            let media = try await link(server, "media", "/a.md", by: ben)
            #expect(try await bytes(server, share) == "one")
            try await server.store.setRole(.viewer, ofMember: "Ben")
            #expect(try await bytes(server, share) == nil)
            #expect(try await bytes(server, media) == "one", "viewers may have direct links")
            try await server.store.setRole(.editor, ofMember: "Ben")
            #expect(try await bytes(server, share) == nil)
            try await server.store.removeMember(name: "Ben")
            #expect(try await bytes(server, media) == nil)
        }
    }

    @Test("no link works longer than it was said to, however often it is asked for")
    func statedEnds() async throws {
        let clock = Clock()
        try await TestServer.run(clock: clock) { server in
            try await server.store("/a.md", "one")
            let start = clock.now.seconds
            let share = try await link(server, "shares", "/a.md", more: "?expires_in=3600")
            let media = try await link(server, "media", "/a.md")
            clock.advance(1800)
            let again = try await server.post("/1/shares/auto/a.md")
            #expect(APIDate(try again.text("expires"))?.seconds == start + 3600)
            #expect(try await link(server, "media", "/a.md") == media)
            clock.advance(1800)
            #expect(try await bytes(server, share) == nil)
            #expect(try await bytes(server, media) == "one")
            #expect(try await link(server, "media", "/a.md") != media, "nobody's asking makes it live on")
            clock.advance(3 * 3600)
            #expect(try await bytes(server, media) == nil)
        }
    }

    @Test("the maker sets a new end of a link, within a minute and a leap year")
    func newEnd() async throws {
        let clock = Clock()
        try await TestServer.run(clock: clock) { server in
            try await server.store("/a.md", "one")
            let share = try await link(server, "shares", "/a.md")
            let sooner = try await server.post("/1/shares/auto/a.md?expires_in=60")
            #expect(APIDate(try sooner.text("expires"))?.seconds == clock.now.seconds + 60)
            #expect(try sooner.text("url").hasSuffix(share))
            clock.advance(60)
            #expect(try await bytes(server, share) == nil)
            for wrong in ["59", "31622401", "0", "-1", "x", "9223372036854775807"] {
                let answer = try await server.post("/1/shares/auto/a.md?expires_in=\(wrong)")
                #expect(try answer.status == 400 && answer.refusal().hasPrefix("expires_in: "), "\(wrong)")
            }
            #expect(try await links(server) == [])
        }
    }

    @Test(
        "a member neither sees another's links nor learns of them by taking back numbers; an owner sees and takes all")
    func othersLinks() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            let (ben, cleo) = (try await server.add("Ben", .editor), try await server.add("Cleo", .viewer))
            let share = try await link(server, "shares", "/a.md", by: ben)
            let media = try await link(server, "media", "/a.md", by: cleo)
            #expect(try await links(server, of: ben).map(\.member) == ["Ben"])
            #expect(try await links(server, of: cleo).map(\.kind) == [.media])
            let all = try await links(server)
            #expect(all.map(\.member) == ["Cleo", "Ben"])
            let his = try #require(all.last?.id)
            var refusals: Set<String> = []
            for id in [his, 4711] {
                let answer = try await server.send("POST /1/sync/links/revoke?id=\(id)", [cleo])
                #expect(answer.status == 404)
                refusals.insert(answer.text)
            }
            #expect(refusals.count == 1, "what is another's is as if it were not")
            #expect(try await bytes(server, share) == "one")
            for link in all { #expect(try await server.post("/1/sync/links/revoke?id=\(link.id)").status == 200) }
            #expect(try await bytes(server, share) == nil)
            #expect(try await bytes(server, media) == nil)
            for wrong in ["", "?id=0", "?id=x"] {
                #expect(try await server.post("/1/sync/links/revoke\(wrong)").status == 400, "\(wrong)")
            }
        }
    }

    @Test("a viewer's direct link is seen by the owner and ends with the file, though another takes its path")
    func media() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            let cleo = try await server.add("Cleo", .viewer)
            let media = try await link(server, "media", "/a.md", by: cleo)
            #expect(try await links(server).map(\.member) == ["Cleo"])
            #expect(try await server.send("POST /1/shares/auto/a.md", [cleo]).status == 403)
            #expect(try await server.post("/1/fileops/delete", "path=/a.md").status == 200)
            try await server.store("/a.md", "two")
            #expect(try await bytes(server, media) == nil)
        }
    }

    @Test("a member's links without end neither fill the server nor one answer")
    func bounds() async throws {
        let clock = Clock()
        try await TestServer.run(clock: clock) { server in
            try await server.store("/a.md", "one")
            let node = try await server.store.read { try $0.live(RemotePath("/a.md"))?.node.number ?? 0 }
            let most = Link.mostOfMember
            let now = clock.now.seconds
            try await server.store.writer.perform { transaction in
                // Of another entry, as many links as there may be; the first ends soonest.
                _ = try transaction.execute(
                    """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                    INSERT INTO link(secret, purpose, member, node, revision, created, expires)
                    SELECT printf('%032d', i), ?, 1, ?, i, ?, ? + i FROM n
                    """, [most, Link.Purpose.share.rawValue, node, now, now + 500])
            }
            try await server.store("/b.md", "two")
            let refused = try await server.post("/1/shares/auto/b.md")
            #expect(refused.status == 429 && refused["Retry-After"] == "501")
            _ = try await link(server, "media", "/b.md")
            let first = try await server.get("/1/sync/links").decoded(PublicLinkPage.self)
            #expect(first.hasMore && first.links.count == 1000)
            var (page, ids) = (first, Set(first.links.map(\.id)))
            while page.hasMore {
                let last = try #require(page.links.last?.id)
                page = try await server.get("/1/sync/links?before=\(last)").decoded(PublicLinkPage.self)
                ids.formUnion(page.links.map(\.id))
                try #require(page.links.count <= 1000 && page.links.allSatisfy { $0.id < last })
            }
            #expect(ids.count == most + 1)
            clock.advance(501)
            _ = try await link(server, "shares", "/b.md")
        }
    }

    @Test("a restart leaves each link its secret, its number and its end")
    func restart() async throws {
        let fixture = try StoreFixture()
        let ann = try await fixture.store.addMember(name: "Ann", role: nil, oauth1: false)
        let entry = try await fixture.put("/a.md", [1])
        let made = try await fixture.store.link(.share, to: entry, by: ann.uid, lifetime: 3600)
        let beside = try StoreFixture.open(fixture.directory.path, mode: .administration, clock: fixture.seconds)
        let member = try #require(try await beside.members().first)
        #expect(try await beside.links(seenBy: member, nil, before: .max, limit: 9) == [made])
        #expect(made.expires.seconds == fixture.seconds.now.seconds + 3600 && made.path == entry.path)
        try beside.close()
    }
}

import ByteClubCore
import Testing

@testable import ByteClubCLI

@Suite struct ShareCommandTests {
    private static func link(_ id: Int64, _ kind: PublicLink.Kind, _ path: String, _ secret: String) throws
        -> PublicLink
    {
        PublicLink(
            id: id, kind: kind, path: try RemotePath(path),
            url: "https://club.example/\(kind == .share ? "s" : "1/view")/\(secret)/x", created: APIDate(seconds: 1),
            expires: APIDate(seconds: 1_375_780_500), member: "Ann")
    }

    private static func links() throws -> [PublicLink] {
        [
            try link(12, .share, "/byteclub/Trip.md", "aaaa"), try link(7, .media, "/byteclub/Trip.md", "bbbb"),
            try link(3, .share, "/byteclub/7", "cccc"), try link(2, .share, "/elsewhere/s", "dddd"),
        ]
    }

    @Test(
        "a link is taken back by its number, by itself however it was copied, or by its path",
        arguments: [
            ("12", [12]), ("7", [7]), ("3", [3]), ("999", []), ("-1", []), ("0", []),
            ("https://club.example/s/aaaa/x", [12]), ("https://club.example/s/aaaa/x?dl=1", [12]),
            ("https://club.example/s/aaaa", [12]), ("http://127.0.0.1:8080/s/aaaa?dl=1", [12]),
            ("https://club.example/1/view/bbbb/Trip.jpg", [7]), ("https://club.example/s/none/x", []),
            ("https://club.example/s/x", []), ("https://club.example/", []), ("https://x/aaaa/s", []),
            ("trip.md", [12, 7]), ("/byteclub/Trip.md", [12, 7]), ("/elsewhere/s", [2]), ("none.md", []),
        ] as [(String, [Int64])])
    func choice(text: String, ids: [Int64]) throws {
        let path = try RemotePath(text.hasPrefix("/") ? text : "/byteclub/" + text)
        #expect(LinkChoice(text, path: path).chosen(from: try Self.links()).map(\.id) == ids)
    }

    @Test("a path that is spelt like a number is meant when no link has that number")
    func numberedPath() throws {
        let links = try Self.links().filter { $0.id != 7 }
        #expect(LinkChoice("7", path: try RemotePath("/byteclub/7")).chosen(from: links).map(\.id) == [3])
        #expect(LinkChoice("a//b", path: nil).chosen(from: links) == [])
    }

    @Test("the table leaves the shared folder out, and no name of others drives the terminal")
    func table() throws {
        var links = try Self.links()
        links[0].member = "An\u{1B}[8mn"
        let folder = try RemotePath("/byteclub")
        let style = TextStyle(calendar: { CalendarTime.utc($0) }, columns: 80)
        let lines = LinkList(links: links, folder: folder).text(style).split(separator: "\n")
        #expect(
            lines == [
                "LINK  PATH          KIND    BY        UNTIL",
                "  12  Trip.md       shared  An^[[8mn  2013-08-06 09:15",
                "   7  Trip.md       direct  Ann       2013-08-06 09:15",
                "   3  7             shared  Ann       2013-08-06 09:15",
                "   2  /elsewhere/s  shared  Ann       2013-08-06 09:15",
            ])
        #expect(LinkList(links: [], folder: folder).text(style) == "")
        let gone = LinksTakenBack(links: [links[0]], folder: folder).text(style)
        #expect(gone == "revoked link 12 to 'Trip.md'")
    }

    @Test("a server that lists links in circles or without end fills no memory")
    func endless() async throws {
        let links = try Self.links()
        let all = try await LinkList.read { before in
            let rest = links.filter { $0.id < before ?? .max }
            return PublicLinkPage(links: Array(rest.prefix(3)), hasMore: rest.count > 3)
        }
        #expect(all == links)
        #expect(try await LinkList.read { _ in PublicLinkPage(links: [], hasMore: true) } == [])
        let refusal = Failure(.protocolViolation, "the server lists links without end")
        await #expect(throws: refusal) {
            try await LinkList.read { _ in PublicLinkPage(links: links, hasMore: true) }
        }
        var asked = 0
        await #expect(throws: refusal) {
            try await LinkList.read { before in
                asked += 1
                let last = before ?? .max
                let page = try (Int64(1)...1000).map { try Self.link(last - $0, .share, "/a", "x") }
                return PublicLinkPage(links: page, hasMore: true)
            }
        }
        #expect(asked == 101)
    }

    @Test(
        "a server that cannot list links or end them says so in one line",
        arguments: [[], ["--list"], ["--revoke", "1"], ["a.md", "--expires", "7d"]])
    func plainServer(_ arguments: [String]) async throws {
        let world = try World()
        try await world.put("x", "/byteclub/a.md")
        #expect(await ByteClub.run(["share"] + arguments, in: world.context()) == .configuration)
        #expect(world.out.isEmpty && world.err.split(separator: "\n").count == 1)
        #expect(world.err.contains("this server does not support listing, revoking or limiting links"), "\(world.err)")
    }
}

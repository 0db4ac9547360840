import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Searches for photos")
struct PhotoSearchTests {
    private static func fill(_ server: TestServer) async throws {
        for (name, fixture) in [("dated", "dated"), ("city", "city"), ("strip", "phone-strip")] {
            let target = "PUT /1/files_put/auto/p/\(name).jpg"
            #expect(try await server.send(target, body: Fixture.bytes("panoramas/\(fixture).jpg")).status == 200)
        }
        try await server.store("/p/fake.jpg", "no photo")
        try await server.store("/p/note.md", "x")
    }

    private static func names(_ server: TestServer, _ query: String, at path: String = "/p") async throws -> [String] {
        let answer = try await server.get("/1/search/auto\(path)?\(query)")
        #expect(answer.status == 200, "\(query): \(answer.text)")
        return try answer.decoded([Metadata].self).map(\.path.name)
    }

    @Test("find what was just stored by kind, time, place and name, with what is known of it, and say that they can")
    func finds() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let account = try await server.get("/1/account/info")
            #expect(account.text.contains(#""photo_search":true"#))
            // From before the first look at any of them.
            #expect(try await Self.names(server, "kind=strip") == ["strip.jpg"])
            #expect(Set(try await Self.names(server, "kind=flat,strip,sphere")).count == 3)
            let dated = try await server.get("/1/search/auto/?near=50.6,6.44&taken_before=2013-08-06")
            let found = try dated.decoded([Metadata].self)
            #expect(found.map(\.path.string) == ["/p/dated.jpg"] && dated["x-byteclub-search"] == nil)
            #expect(found.first?.photoInfo?.taken?.clock == APIDate("Mon, 05 Aug 2013 18:40:12 +0000"))
            #expect(try await Self.names(server, "taken_after=2013-08-05T18:40:13Z&taken_before=2013-09-01").isEmpty)
            #expect(try await Self.names(server, "taken_after=2013-08-05&taken_before=2013-08-06") == ["dated.jpg"])
            #expect(try await Self.names(server, "near=50.6,6.44,0.1").isEmpty)
            #expect(try await Self.names(server, "query=CITY&taken_after=2013-08-05").first == "city.jpg")
            try await server.store("/p/city.jpg.md", "---\nview: cylinder\n---\n")
            #expect(try await Self.names(server, "kind=cylinder") == ["city.jpg"])
            let one = try await server.get("/1/search/auto/p?taken_after=2000-01-01&file_limit=1")
            #expect(try one.decoded([Metadata].self).count == 1 && one["x-byteclub-search"] == "incomplete")
        }
    }

    @Test(
        "refuse what is no kind, no time and no place, and what does not go with them",
        arguments: [
            "kind=round", "kind=sphere,", "taken_after=yesterday", "taken_before=2013-02-30", "near=91,0", "near=1",
            "near=1,2,0", "near=1,2,3,4", "near=nan,0", "kind=flat&content=true", "kind=flat&include_deleted=true",
            "kind=flat&file_limit=0", "near=0x1,2",
        ])
    func refuses(query: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.get("/1/search/auto/?\(query)")
            #expect(answer.status == 400 && answer.text.contains("\"error\""), "\(answer.text)")
        }
    }

    @Test("of names and texts are as they were, and need a query")
    func plain() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            #expect(try await Self.names(server, "query=note") == ["note.md"])
            #expect(try await server.get("/1/search/auto/p").status == 400)
        }
    }
}

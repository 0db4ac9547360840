import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct MetadataTests {
    static let fileFields = [
        "bytes", "client_mtime", "content_hash", "icon", "is_dir", "mime_type", "modified", "modifier", "path", "rev",
        "revision", "root", "size", "thumb_exists",
    ]
    static let folderFields = [
        "bytes", "icon", "is_dir", "modified", "modifier", "path", "rev", "revision", "root", "size", "thumb_exists",
    ]

    @Test("files, folders and the root have the protocol's fields, no more and no less")
    func fields() async throws {
        try await TestServer.run { server in
            let stored = try await server.put("/1/files_put/auto/Notes/Trip.md", "Tuesday")
            #expect(try stored.names() == Self.fileFields)
            #expect(try await server.get("/1/metadata/auto/notes/trip.md").names() == Self.fileFields)
            let folder = try await server.get("/1/metadata/auto/Notes")
            #expect(try folder.names() == (Self.folderFields + ["contents", "hash"]).sorted())
            #expect(try await server.get("/1/metadata/auto/Notes?list=False").names() == Self.folderFields)
            for root in ["/1/metadata/auto", "/1/metadata/dropbox/", "//1//metadata//auto//"] {
                let answer = try await server.get(root)
                #expect(
                    try answer.names() == [
                        "bytes", "contents", "hash", "icon", "is_dir", "path", "root", "size", "thumb_exists",
                    ])
                #expect(try answer.decoded(Metadata.self).contents?.map(\.path.string) == ["/Notes"])
            }
            let gone = try await server.post("/1/fileops/delete", "root=auto&path=/Notes/Trip.md")
            #expect(gone.status == 200)
            let deleted = try await server.get("/1/metadata/auto/Notes/Trip.md")
            #expect(deleted.status == 200)
            #expect(
                try deleted.names() == (Self.fileFields.filter { $0 != "content_hash" } + ["is_deleted"]).sorted())
            #expect(try deleted.decoded(Metadata.self).bytes == 0)
            let children = try await server.get("/1/metadata/auto/Notes?include_deleted=1").decoded(Metadata.self)
            #expect(children.contents?.map(\.isDeleted) == [true])
        }
    }

    @Test("the hash that a listing told makes the next one 304 without a body, until something changes")
    func notModified() async throws {
        try await TestServer.run { server in
            try await server.store("/n/a.md")
            let hash = try #require(try await server.get("/1/metadata/auto/n").decoded(Metadata.self).hash)
            let same = try await server.get("/1/metadata/auto/n?hash=\(hash)")
            #expect(same.status == 304 && same.body.isEmpty && same["Content-Length"] == nil)
            #expect(try await server.get("/1/metadata/auto/n?hash=\(hash)&include_deleted=true").status == 200)
            #expect(try await server.get("/1/metadata/auto/n?hash=\(hash)&list=false").status == 200)
            try await server.store("/n/b.md")
            #expect(try await server.get("/1/metadata/auto/n?hash=\(hash)").status == 200)
        }
    }

    @Test("a version is described by its rev; limits, revs and roots are checked in order")
    func parameters() async throws {
        try await TestServer.run { server in
            let first = try await server.store("/a.md", "1")
            try await server.store("/a.md", "22")
            let rev = try #require(first.rev)
            let old = try await server.get("/1/metadata/auto/a.md?rev=\(rev)").decoded(Metadata.self)
            #expect(old == first)
            try await server.store("/b.md")
            for (target, status) in [
                ("/auto?file_limit=1", 406), ("/auto?file_limit=0", 400), ("/auto?file_limit=25001", 400),
                ("/auto?file_limit=x", 400), ("/auto?list=maybe", 400), ("/auto?list=&file_limit=", 200),
                ("/auto/a.md?rev=xyz", 400), ("/auto/a.md?rev=fff00000001", 404), ("/auto/none", 404),
                ("/sandbox/a.md", 400), ("/other/a.md", 400), ("", 400), ("/auto/none?list=x", 400),
                ("/auto?unknown=1&locale=pt-BR", 200),
            ] {
                let answer = try await server.get("/1/metadata\(target)")
                #expect(answer.status == status, "\(target)")
            }
            let missing = try await server.get("/1/metadata/auto/none")
            #expect(try missing.refusal().contains("not found"))
        }
    }

    @Test("a search finds words in any letter case and accent below a folder, ordered by key")
    func search() async throws {
        try await TestServer.run { server in
            for path in ["/n/caf%C3%A9%20Lisboa.md", "/n/x/cafe.md", "/n/tea.md", "/cafe.md"] {
                try await server.store(path)
            }
            func paths(_ target: String) async throws -> [String] {
                try await server.get("/1/search/auto\(target)").decoded([Metadata].self).map(\.path.string)
            }
            #expect(try await paths("/n/?query=CAFE") == ["/n/caf\u{E9} Lisboa.md", "/n/x/cafe.md"])
            #expect(try await paths("/n?query=cafe+lisb") == ["/n/caf\u{E9} Lisboa.md"])
            #expect(try await paths("?query=cafe&file_limit=1").count == 1)
            #expect(try await paths("?query=nothing").isEmpty)
            let posted = try await server.post("/1/search/auto", "query=tea")
            #expect(try posted.decoded([Metadata].self).count == 1)
            for wrong in ["", "?query=", "?query=+"] {
                let answer = try await server.get("/1/search/auto\(wrong)")
                #expect(answer.status == 400)
                #expect(try answer.refusal().hasPrefix("query: "))
            }
            #expect(try await server.get("/1/search/auto/none?query=x").status == 404)
        }
    }

    @Test("a search in texts is asked for, marks what it found, and is otherwise as one in names")
    func searchTexts() async throws {
        try await TestServer.run { server in
            try await server.store("/n/where.md", "The keys are in the car <b>park</b>.")
            try await server.store("/n/Car%20park.md", "nothing")
            func search(_ query: String) async throws -> [Metadata] {
                try await server.get("/1/search/auto/n?\(query)").decoded(MetadataList.self).entries
            }
            #expect(try await search("query=car+park").map(\.path.string) == ["/n/Car park.md"])
            let found = try await search("query=car+park&content=true")
            #expect(found.map(\.path.string) == ["/n/Car park.md", "/n/where.md"])
            let parts = try #require(found.last?.snippet?.parts)
            #expect(parts.filter(\.isMatch).map(\.text) == ["car", "park"])
            #expect(parts.map(\.text).joined() == "The keys are in the car <b>park</b>.")
            let answer = try await server.get("/1/search/auto/n?query=car+park&content=true")
            #expect(answer.text.contains(#""snippet":[{"text":"The keys are in the ","match":false},{"text":"car","#))
            #expect(try await search("query=car+park&content=true&file_limit=1").count == 1)
            let posted = try await server.post("/1/search/auto", "query=keys&content=true")
            #expect(try posted.decoded(MetadataList.self).entries.count == 1)
            for wrong in ["query=%3F%21&content=true", "query=a&content=maybe", "content=true"] {
                #expect(try await server.get("/1/search/auto?\(wrong)").status == 400)
            }
            #expect(try await server.get("/1/search/auto/none?query=x&content=true").status == 404)
        }
    }

    @Test("versions are told newest first, deletions included, and an old one can be brought back")
    func history() async throws {
        try await TestServer.run { server in
            let first = try await server.store("/a.md", "one")
            try await server.store("/a.md", "two")
            #expect(try await server.post("/1/fileops/delete", "path=a.md").status == 200)
            let versions = try await server.get("/1/revisions/auto/a.md").decoded([Metadata].self)
            #expect(versions.map(\.isDeleted) == [true, false, false])
            #expect(try await server.get("/1/revisions/auto/a.md?rev_limit=2").decoded([Metadata].self).count == 2)
            let rev = try #require(first.rev)
            for (index, version) in versions.enumerated() {
                let older = try await server.get("/1/revisions/auto/a.md?before=\(try #require(version.rev))")
                #expect(try older.decoded([Metadata].self).map(\.rev) == versions.dropFirst(index + 1).map(\.rev))
            }
            let restored = try await server.post("/1/restore/auto/a.md?rev=\(rev)").decoded(Metadata.self)
            #expect(restored.rev != rev && restored.bytes == 3)
            #expect(try await server.get("/1/files/auto/a.md").text == "one")
            let deletion = try #require(versions.first?.rev)
            for (line, status) in [
                ("GET /1/revisions/auto/a.md?rev_limit=0", 400), ("GET /1/revisions/auto/a.md?rev_limit=1001", 400),
                ("GET /1/revisions/auto/a.md?before=zz", 400),
                ("GET /1/revisions/auto", 404), ("GET /1/revisions/auto/none", 404), ("GET /1/restore/auto/a.md", 400),
                ("GET /1/restore/auto/a.md?rev=zz", 400), ("GET /1/restore/auto/a.md?rev=fff00000001", 404),
                ("GET /1/restore/auto/a.md?rev=\(deletion)", 400),
            ] {
                #expect(try await server.send(line).status == status, "\(line)")
            }
        }
    }
}

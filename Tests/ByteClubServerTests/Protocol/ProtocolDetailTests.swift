import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

/// Statements of the protocol that no other test is about.
@Suite struct ProtocolDetailTests {
    @Test("every operation takes a locale, in the query or the form, and parameters that nobody knows")
    func locale() async throws {
        try await TestServer.run { server in
            let rev = try #require(try await server.store("/a.md").rev)
            for line in [
                "GET /1/account/info", "GET /1/metadata/auto/a.md", "GET /1/files/auto/a.md",
                "PUT /1/files_put/auto/b.md", "PUT /1/chunked_upload", "GET /1/search/auto?query=a",
                "POST /1/delta", "POST /1/delta/latest_cursor", "GET /1/revisions/auto/a.md",
                "POST /1/restore/auto/a.md?rev=\(rev)", "POST /1/shares/auto/a.md", "POST /1/media/auto/a.md",
                "GET /1/copy_ref/auto/a.md", "POST /1/fileops/create_folder?path=/f",
                "POST /1/fileops/copy?from_path=/a.md&to_path=/c.md",
                "POST /1/fileops/move?from_path=/c.md&to_path=/d.md", "POST /1/fileops/delete?path=/d.md",
            ] {
                let mark = line.contains("?") ? "&" : "?"
                let answer = try await server.send("\(line)\(mark)locale=pt-BR&nobody=knows")
                #expect(answer.status == 200, "\(line): \(answer.text)")
            }
            let both = try await server.post("/1/fileops/create_folder?locale=en&path=/q", "path=/form&locale=de")
            #expect(try both.decoded(Metadata.self).path.string == "/form", "the form wins")
        }
    }

    @Test("true, false, 1 and 0 in any case are truth values; an empty value is none")
    func values() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md")
            for (value, status) in [
                ("true", 200), ("True", 200), ("FALSE", 200), ("1", 200), ("0", 200), ("", 200), ("yes", 400),
                ("2", 400),
            ] {
                #expect(try await server.get("/1/metadata/auto?list=\(value)").status == status, "\(value)")
            }
            for (value, status) in [("2", 200), ("", 200), ("0x2", 400), ("2.0", 400), ("two", 400), ("%202", 400)] {
                #expect(try await server.get("/1/metadata/auto?file_limit=\(value)").status == status, "\(value)")
            }
        }
    }

    @Test("names with signs, quotes, blanks inside, and letters beyond the basic plane survive")
    func names() async throws {
        try await TestServer.run { server in
            for name in [
                ":?*<>|\"%#~+&", "~ - _ ' \"", "a  b", "caf\u{E9} \u{1F3D4}", ".hidden", "a.tmp", "100%",
                String(repeating: "n", count: 255),
            ] {
                let target = "/1/files_put/auto/Some:Folder/\(PercentEncoding.encode(name))"
                let stored = try await server.put(target, name)
                #expect(stored.status == 200, "\(name)")
                #expect(try stored.decoded(Metadata.self).path.string == "/Some:Folder/\(name)")
                let read = try await server.get("/1/files/auto/some%3Afolder/\(PercentEncoding.encode(name))")
                #expect(read.text == name)
            }
            let deep = String(repeating: "/" + String(repeating: "d", count: 200), count: 21)
            #expect(try await server.put("/1/files_put/auto\(deep)").status == 400)
            #expect(try await server.put("/1/files_put/auto/" + String(repeating: "n", count: 256)).status == 400)
            for ignored in [
                "desktop.ini", "Thumbs.db", ".DS_Store", "Icon%0D", ".dropbox", ".dropbox.attr", "~$x.doc", ".~lock",
                "~a.TMP",
            ] {
                #expect(try await server.put("/1/files_put/auto/\(ignored)").status == 400, "\(ignored)")
            }
        }
    }

    @Test("paths are blind to case, keep the stored one, and delta's keys are in lower case")
    func cases() async throws {
        try await TestServer.run { server in
            let first = try await server.store("/Notes/%C3%84rger.MD", "1")
            let second = try await server.store("/NOTES/%C3%A4rger.md", "2")
            #expect(second.path == first.path && second.rev != first.rev)
            // The accent as a sign of its own is the same letter.
            #expect(try await server.get("/1/files/auto/notes/a%CC%88rger.md").text == "2")
            let keys = try await server.post("/1/delta").decoded(DeltaPage.self).entries.map(\.key.string)
            #expect(keys == ["/notes", "/notes/\u{E4}rger.md"])
            let moved = try await server.post(
                "/1/fileops/move", "from_path=/Notes/%C3%84rger.MD&to_path=/Notes/%C3%84RGER.md")
            #expect(try moved.decoded(Metadata.self).path.string == "/Notes/\u{C4}RGER.md")
        }
    }

    @Test("missing folders are made by every operation that stores, a file above is 403")
    func parents() async throws {
        try await TestServer.run { server in
            let rev = try #require(try await server.store("/old/a.md").rev)
            #expect(try await server.post("/1/fileops/delete", "path=/old").status == 200)
            #expect(try await server.post("/1/restore/auto/old/a.md", "rev=\(rev)").status == 200)
            for call in [
                "copy?from_path=old/a.md&to_path=c/d/a.md", "move?from_path=/c/d/a.md&to_path=e/f/a.md",
                "create_folder?path=g/h",
            ] {
                #expect(try await server.post("/1/fileops/\(call)").status == 200, "\(call)")
            }
            for folder in ["old", "c/d", "e/f", "g/h"] {
                #expect(try await server.get("/1/metadata/auto/\(folder)").decoded(Metadata.self).isFolder)
            }
            for call in ["copy?from_path=/old&to_path=/e/f/a.md/x", "create_folder?path=/e/f/a.md/x"] {
                #expect(try await server.post("/1/fileops/\(call)").status == 403, "\(call)")
            }
        }
    }

    @Test("every change makes a new rev that is higher, for folders too, and is hexadecimal with eight digits behind")
    func revs() async throws {
        try await TestServer.run { server in
            var last: Int64 = 0
            for call in [
                "files_put/auto/f/a.md", "fileops/copy?from_path=/f&to_path=/g", "fileops/move?from_path=/g&to_path=/h",
                "fileops/create_folder?path=/i", "fileops/delete?path=/h",
            ] {
                let answer = try await server.post("/1/\(call)").decoded(Metadata.self)
                let rev = try #require(answer.rev.flatMap { JournalRevision($0) })
                #expect(rev.number > last && rev.description.hasSuffix("00000001"), "\(call)")
                last = rev.number
            }
        }
    }

    @Test("a hash is ignored where nothing is listed, and a listing's differs with deleted children shown")
    func hashes() async throws {
        try await TestServer.run { server in
            try await server.store("/f/a.md")
            let hash = try #require(try await server.get("/1/metadata/auto/f").decoded(Metadata.self).hash)
            let all = try await server.get("/1/metadata/auto/f?include_deleted=true").decoded(Metadata.self).hash
            #expect(all != hash)
            #expect(try await server.get("/1/metadata/auto/f/a.md?hash=\(hash)").status == 200)
            for change in ["files_put/auto/f/b.md", "fileops/delete?path=/f/b.md", "fileops/create_folder?path=/f/c"] {
                let before = try await server.get("/1/metadata/auto/f").decoded(Metadata.self).hash
                #expect(try await server.post("/1/\(change)").status == 200)
                #expect(try await server.get("/1/metadata/auto/f").decoded(Metadata.self).hash != before, "\(change)")
            }
        }
    }

    @Test("a search looks at names alone, below the folder alone, and at deleted entries when asked")
    func search() async throws {
        try await TestServer.run { server in
            try await server.store("/tex/tex.md")
            try await server.store("/tex/old%20t%C3%A9x.md")
            #expect(try await server.post("/1/fileops/delete", "path=/tex/old t%C3%A9x.md").status == 200)
            func names(_ query: String) async throws -> [String] {
                try await server.get("/1/search/auto/tex/?\(query)").decoded([Metadata].self).map(\.path.name)
            }
            #expect(try await names("query=tex") == ["tex.md"])
            #expect(try await names("query=tex&include_deleted=true") == ["old t\u{E9}x.md", "tex.md"])
            #expect(try await names("query=TEX+MD") == ["tex.md"])
            #expect(try await names("query=tex+other") == [])
            #expect(try await names("query=m") == ["tex.md"], "three letters are not asked for")
            #expect(try await server.get("/1/search/auto?query=x&file_limit=0").status == 400)
            #expect(try await server.get("/1/search/auto?query=x&file_limit=5000").status == 200)
        }
    }

    @Test("checks come in order: method, token, parameters, path, existence")
    func order() async throws {
        try await TestServer.run { server in
            for (line, fields, status) in [
                ("PUT /1/metadata/auto/none?list=x", [], 405), ("GET /1/metadata/auto/none?list=x", [], 401),
                ("GET /1/metadata/auto/a%5Cb?list=x", [server.bearer], 400),
                ("GET /1/metadata/auto/a%5Cb", [server.bearer], 400),
                ("GET /1/metadata/auto/none", [server.bearer], 404),
            ] {
                #expect(try await server.send(line, fields).status == status, "\(line)")
            }
            let first = try await server.get("/1/metadata/auto/a%5Cb?list=x").refusal()
            #expect(first.hasPrefix("list: "))
        }
    }

    @Test("what old clients do that others do not is accepted")
    func clients() async throws {
        try await TestServer.run { server in
            let first = try await server.store("/a.md", "1")
            let rev = try #require(first.rev)
            #expect(try await server.get("/1/restore/auto/a.md?rev=\(rev)").status == 200)
            #expect(try await server.post("/1/copy_ref/auto/a.md").status == 200)
            #expect(try await server.get("/1/media/auto/a.md").status == 200)
            #expect(try await server.get("/1/shares/auto/a.md").status == 200)
            let stale = try await server.put("/1/files_put/auto/a.md?parent_rev=\(rev)", "2")
            #expect(try stale.decoded(Metadata.self).path.string == "/a (conflicted copy).md")
            #expect(try await server.post("/1/fileops/delete", "path=/a.md").status == 200)
            for target in ["metadata/auto/a.md", "metadata/auto?include_deleted=true"] {
                let entry = try await server.get("/1/\(target)").text
                for field in ["client_mtime", "modified", "rev", "size", "bytes"] {
                    #expect(entry.contains("\"\(field)\""), "\(field) of a deleted file")
                }
            }
            let gone = try await server.post("/1/fileops/delete", "path=/nothing")
            #expect(gone.status == 404 && gone.text.contains("not found"))
        }
    }

    @Test("what was not built answers 404 with an error in JSON")
    func laterAdditions() async throws {
        try await TestServer.run { server in
            for line in [
                "GET /1/previews/auto/a.md", "POST /1/save_url/auto/a.md", "GET /1/save_url_job/x",
                "GET /1/shared_folders", "GET /1/shared_folders/1",
            ] {
                let answer = try await server.send(line)
                #expect(answer.status == 404)
                #expect(try !answer.refusal().isEmpty)
            }
        }
    }
}

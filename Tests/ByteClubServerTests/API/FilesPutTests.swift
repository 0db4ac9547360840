import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct FilesPutTests {
    @Test("the time when a content was made is a date, or what says what is wrong with it")
    func times() async throws {
        try await TestServer.run { server in
            let date = "Sat,%2005%20May%202018%2000:00:00%20%2B0000"
            func put(_ query: String) async throws -> RawMessage {
                try await server.put("/1/files_put/auto/a.md?\(query)", query)
            }
            let whole = try await put("client_mtime=\(date)")
            #expect(try whole.text("client_mtime") == "Sat, 05 May 2018 00:00:00 +0000")
            #expect(try !whole.names().contains("client_mtime_nanos"))
            let exact = try await put("client_mtime=\(date)&client_mtime_nanos=7").decoded(Metadata.self)
            #expect(exact.fileTime == FileTime(seconds: 1_525_478_400, nanoseconds: 7))
            let alone = try await put("client_mtime_nanos=7").decoded(Metadata.self)
            #expect(alone.clientModified == alone.modified && alone.clientNanoseconds == nil)
            for query in [
                "client_mtime=yesterday", "client_mtime=Sat,%2005%20May%202318%2000:00:00%20%2B0000",
                "client_mtime=\(date)&client_mtime_nanos=1000000000", "client_mtime=\(date)&client_mtime_nanos=-1",
            ] {
                #expect(try await put(query).status == 400, "\(query)")
            }
        }
    }

    @Test("an upload may say whether the file may be executed, and a change of that alone is a version")
    func executable() async throws {
        try await TestServer.run { server in
            func put(_ query: String, _ text: String = "1") async throws -> RawMessage {
                try await server.put("/1/files_put/auto/run.sh?\(query)", text)
            }
            #expect(try await !put("").names().contains("executable"))
            let first = try await put("executable=false").decoded(Metadata.self)
            let script = try await put("executable=true").decoded(Metadata.self)
            #expect(first.isExecutable == nil && script.isExecutable == true && script.rev != first.rev)
            #expect(try await put("executable=1").decoded(Metadata.self) == script)
            #expect(try await put("").decoded(Metadata.self) == script)
            let edited = try await put("", "2").decoded(Metadata.self)
            #expect(edited.isExecutable == true && edited.rev != script.rev)
            #expect(try await put("executable=false", "2").decoded(Metadata.self).isExecutable == false)
            #expect(try await put("executable=perhaps").status == 400)
        }
    }

    @Test("a write replaces, renames or conflicts as the protocol's table says")
    func decisions() async throws {
        try await TestServer.run { server in
            let first = try #require(try await server.store("/a.md", "1").rev)
            func path(_ query: String, _ text: String) async throws -> String {
                try await server.put("/1/files_put/auto/a.md\(query)", text).decoded(Metadata.self).path.string
            }
            #expect(try await path("?overwrite=false", "2") == "/a (1).md")
            #expect(try await path("?overwrite=False", "3") == "/a (2).md")
            #expect(try await path("?overwrite=false&parent_rev=\(first)", "4") == "/a.md")
            #expect(try await path("?overwrite=true&parent_rev=\(first)", "5") == "/a (conflicted copy).md")
            #expect(try await path("?parent_rev=\(first)", "6") == "/a (conflicted copy 1).md")
            #expect(try await path("", "7") == "/a.md")
            #expect(try await path("?parent_rev=&overwrite=true", "8") == "/a.md")
            for query in ["?parent_rev=\(first)&autorename=false", "?overwrite=false&autorename=0"] {
                #expect(try await server.put("/1/files_put/auto/a.md\(query)", "9").status == 409)
            }
            #expect(try await server.get("/1/files/auto/a.md").text == "8")
            for (target, status) in [
                ("/a.md?parent_rev=fff00000001", 400), ("/a.md?parent_rev=zz", 400),
                ("/new.md?parent_rev=\(first)", 400),
                ("/a.md?overwrite=maybe", 400), ("", 400), ("/", 400), ("/Thumbs.db", 400), ("/~x.tmp", 400),
                ("/a.md/below", 403),
            ] {
                #expect(try await server.put("/1/files_put/auto\(target)", "9").status == status, "\(target)")
            }
            #expect(try await server.post("/1/fileops/create_folder", "path=/f").status == 200)
            #expect(try await server.put("/1/files_put/auto/f", "9").status == 403)
            #expect(
                try await server.put("/1/files_put/auto/f?overwrite=false", "9").decoded(Metadata.self).path.string
                    == "/f (1)")
            #expect(try await server.get("/1/metadata/auto/new.md").status == 404)
        }
    }

    @Test("POST stores like PUT, and a file that was deleted may be written by its old rev")
    func posted() async throws {
        try await TestServer.run { server in
            let answer = try await server.send(
                "POST /1/files_put/auto/p.md", [server.bearer, "Content-Type: application/x-www-form-urlencoded"],
                body: Array("a=b&c".utf8))
            let rev = try #require(try answer.decoded(Metadata.self).rev)
            #expect(try await server.get("/1/files/auto/p.md").text == "a=b&c")
            #expect(try await server.post("/1/fileops/delete", "path=/p.md").status == 200)
            #expect(
                try await server.put("/1/files_put/auto/p.md?parent_rev=\(rev)").decoded(Metadata.self).path.string
                    == "/p.md")
        }
    }

    @Test("an upload without a length is 411, one over the limit is 400 before its body is read")
    func lengths() async throws {
        try await TestServer.run(adjusting: { $0.settings.bodyLimit = 1000 }) { server in
            let chunked = try await server.send(
                "PUT /1/files_put/auto/a.md", [server.bearer, "Transfer-Encoding: chunked"],
                body: Array("1\r\nx\r\n0\r\n\r\n".utf8), length: false)
            #expect(chunked.status == 411)
            let none = try await server.send("PUT /1/chunked_upload", length: false)
            #expect(none.status == 411)
            let long = try await server.send(
                "PUT /1/files_put/auto/a.md", [server.bearer, "Content-Length: 99999999999"], body: [1], length: false)
            #expect(long.status == 400)
            #expect(long["Connection"] == "close")
            #expect(
                try await server.send("PUT /1/files_put/auto/a.md", body: .init(repeating: 1, count: 1001)).status
                    == 400)
            #expect(
                try await server.send("PUT /1/files_put/auto/a.md", body: .init(repeating: 1, count: 1000)).status
                    == 200)
            let form = try await server.send(
                "POST /1/delta", [server.bearer, "Content-Type: application/x-www-form-urlencoded"],
                body: .init(repeating: 0x61, count: 1 << 21))
            #expect(form.status == 413)
        }
    }

    @Test("a client that waits for 100 Continue is told to go on, and only when its upload is wanted")
    func expectation() async throws {
        try await TestServer.run { server in
            let wanted = try await server.send(
                "PUT /1/files_put/auto/a.md", [server.bearer, "Expect: 100-continue"], body: [1, 2, 3])
            #expect(wanted.status == 100)
            #expect(wanted.text.hasPrefix("HTTP/1.1 200"))
            let refused = try await server.send(
                "PUT /1/files_put/auto/a.md", ["Expect: 100-continue"], body: [1, 2, 3])
            #expect(refused.status == 401)
        }
    }

    @Test("a body that is cut short stores nothing", arguments: [100, 500_000])
    func cutShort(count: Int) async throws {
        try await TestServer.run { server in
            let line = await server.cutShort("PUT /1/files_put/auto/a.md", announced: count, sent: count / 2)
            let after = try await server.get("/1/metadata/auto/a.md")
            #expect(line != nil && after.status == 404)
        }
    }

    @Test("chunks become a file, a chunk at the wrong place is told the right one")
    func chunks() async throws {
        try await TestServer.run { server in
            func chunk(_ query: String, _ text: String) async throws -> RawMessage {
                try await server.put("/1/chunked_upload\(query)", text)
            }
            let begun = try await chunk("", "first ")
            #expect(try begun.names() == ["expires", "offset", "upload_id"])
            let upload: ChunkedUpload = try begun.decoded()
            #expect(upload.offset == 6)
            let id = upload.uploadID
            let wrong = try await chunk("?upload_id=\(id)&offset=9", "lost")
            #expect(wrong.status == 400)
            #expect(try wrong.names() == ["error", "expires", "offset", "upload_id"])
            #expect(try wrong.refusal().contains("got [9] expected [6]"))
            #expect(try wrong.decoded(ChunkedUpload.self).offset == 6)
            #expect(try await chunk("?upload_id=\(id)&offset=6", "").decoded(ChunkedUpload.self).offset == 6)
            #expect(try await chunk("?upload_id=\(id)&offset=6", "second").decoded(ChunkedUpload.self).offset == 12)
            #expect(try await chunk("?upload_id=unknown&offset=6", "x").status == 404)
            #expect(try await chunk("?offset=-1", "x").status == 400)
            let fresh = try await chunk("?offset=5", "x")
            #expect(fresh.status == 400)
            #expect(try fresh.decoded(ChunkedUpload.self).offset == 0)
            #expect(try fresh.refusal().contains("got [5] expected [0]"))
            let done = try await server.post("/1/commit_chunked_upload//auto/big.md", "upload_id=\(id)&overwrite=true")
            #expect(try done.names() == MetadataTests.fileFields)
            #expect(try await server.get("/1/files/auto/big.md").text == "first second")
            let again = try await server.post("/1/commit_chunked_upload/auto/big.md?upload_id=\(id)")
            #expect(again.status == 400)
            #expect(try again.refusal().contains("already completed"))
            #expect(try await server.post("/1/commit_chunked_upload/auto/b.md", "upload_id=unknown").status == 400)
            #expect(try await server.post("/1/commit_chunked_upload/auto/b.md").status == 400)
        }
    }

    @Test("a chunk that is cut short leaves the upload as it was")
    func cutChunk() async throws {
        try await TestServer.run { server in
            let upload: ChunkedUpload = try await server.put("/1/chunked_upload", "12345").decoded()
            let target = "/1/chunked_upload?upload_id=\(upload.uploadID)&offset=5"
            #expect(await server.cutShort("PUT \(target)", announced: 400_000, sent: 200_000) != nil)
            #expect(try await server.put(target, "6").decoded(ChunkedUpload.self).offset == 6)
        }
    }
}

extension TestServer {
    /// Sends less of a body than announced and closes; returns the server's line about it.
    func cutShort(_ line: String, announced: Int, sent: Int) async -> String? {
        let head = ["\(line) HTTP/1.1", "Host: x", bearer, "Content-Length: \(announced)"]
        let bytes = Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + [UInt8](repeating: 7, count: sent)
        let port = port
        await BackgroundThread.run {
            if let connection = RawConnection(port: port) { connection.send(bytes) }
        }
        return await log.line { $0.contains(" 499 ") }
    }
}

import ByteClubCore
import ByteClubRemotes
import TestSupport
import Testing

@Suite("CoreAPIv1Remote's requests")
struct CoreAPIv1RequestTests {
    /// One call and the request that it makes.
    struct Row: Sendable, CustomStringConvertible {
        let line: String
        let form: String
        let answer: String
        let call: @Sendable (CoreAPIv1Remote) async throws -> Void
        var description: String { line }

        init(
            _ line: String, form: String = "", answer: String = fileJSON("/a", Array("x".utf8)),
            _ call: @escaping @Sendable (CoreAPIv1Remote) async throws -> Void
        ) {
            (self.line, self.form, self.answer, self.call) = (line, form, answer, call)
        }
    }

    static let page = #"{"reset": true, "cursor": "c", "has_more": false, "entries": [["/a", null]]}"#
    static let revision = Revision.number(421)
    static func path(_ text: String) throws -> RemotePath { try RemotePath(text) }
    static func put(
        _ remote: CoreAPIv1Remote, _ condition: WriteCondition, _ policy: ConflictPolicy
    ) async throws {
        _ = try await remote.put(
            .bytes(Array("x".utf8)), at: path("/Notes/Trip.md"), condition: condition, policy: policy, progress: nil)
    }

    static let rows = [
        Row(
            "GET /1/account/info",
            answer:
                #"{"uid": 1, "display_name": "A", "quota_info": {"quota": 1, "normal": 0, "shared": 0, "datastores": 0}}"#
        ) { _ = try await $0.account() },
        Row("GET /1/metadata/auto/Notes/caf%C3%A9%20%26%20%23100%25%2B.md?list=false") {
            _ = try await $0.metadata(at: path("/Notes/cafe\u{301} & #100%+.md"))
        },
        Row("GET /1/metadata/auto?list=true&file_limit=25000") {
            _ = try await $0.list(.root, unless: nil, includeDeleted: false)
        },
        Row("GET /1/metadata/auto/a?list=true&file_limit=25000&hash=ab%20c&include_deleted=true") {
            _ = try await $0.list(path("/a"), unless: "ab c", includeDeleted: true)
        },
        Row("PUT /1/files_put/auto/Notes/Trip.md?overwrite=true&autorename=true") {
            try await put($0, .overwrite, .rename)
        },
        Row("PUT /1/files_put/auto/Notes/Trip.md?overwrite=false&autorename=false") {
            try await put($0, .create, .fail)
        },
        Row("PUT /1/files_put/auto/Notes/Trip.md?parent_rev=1a500000001&autorename=false") {
            try await put($0, .parent(revision), .fail)
        },
        Row("GET /1/search/auto/a?query=tea%20caf%C3%A9&file_limit=7", answer: "[]") {
            _ = try await $0.search(path("/a"), query: "tea café", limit: 7)
        },
        Row("GET /1/revisions/auto/a.md?rev_limit=3", answer: "[]") {
            _ = try await $0.revisions(of: path("/a.md"), limit: 3)
        },
        Row("POST /1/restore/auto/a.md", form: "rev=1a500000001") {
            _ = try await $0.restore(path("/a.md"), to: revision)
        },
        Row("POST /1/delta", answer: page) { _ = try await $0.delta(after: nil, prefix: .root) },
        Row("POST /1/delta", form: "cursor=a%2Bb%3D&path_prefix=%2FMy%20notes", answer: page) {
            _ = try await $0.delta(after: "a+b=", prefix: path("/My notes"))
        },
        Row("GET /1/longpoll_delta?cursor=c&timeout=30", answer: #"{"changes": false, "backoff": 60}"#) {
            let result = try await $0.waitForChanges(after: "c", timeout: .seconds(30))
            #expect(result == LongpollResult(changes: false, backoff: 60))
        },
        Row("POST /1/fileops/create_folder", form: "root=auto&path=%2Fa%2Fb") {
            _ = try await $0.createFolder(path("/a/b"))
        },
        Row("POST /1/fileops/delete", form: "root=auto&path=%2Fa") {
            _ = try await $0.delete(path("/a"), ifUnchangedSince: nil)
        },
        Row("POST /1/fileops/move", form: "root=auto&from_path=%2Fa&to_path=%2Fb") {
            _ = try await $0.move(path("/a"), to: path("/b"))
        },
        Row("POST /1/fileops/copy", form: "root=auto&from_path=%2Fa&to_path=%2Fb") {
            _ = try await $0.copy(path("/a"), to: path("/b"))
        },
    ]

    @Test("each call is the request of the protocol, with the token", arguments: rows)
    func request(_ row: Row) async throws {
        try await withRemote({ _, _ in .status(200, row.answer) }) { remote, server in
            try await row.call(remote)
            let request = try #require(server.requests.first)
            #expect(server.requests.count == 1)
            #expect(request.line == row.line + " HTTP/1.1")
            #expect(request.fields["authorization"] == "Bearer TOKEN")
            if row.line.hasPrefix("POST") {
                #expect(request.text == row.form)
                #expect(request.fields["content-type"] == "application/x-www-form-urlencoded")
            }
            if row.line.hasPrefix("PUT") {
                #expect(request.text == "x")
                #expect(request.fields["content-length"] == "1")
                #expect(request.fields["content-type"] == "application/octet-stream")
            }
        }
    }

    @Test("a part of an old version is asked for by range and rev")
    func range() async throws {
        let all = Array("0123456789".utf8)
        let script: ScriptedServer.Script = { _, _ in
            .bytes(206, Array("234".utf8), ["Content-Range: bytes 2-4/10", metadataField("/a", all)])
        }
        try await withRemote(script) { remote, server in
            let read = try await remote.content(
                at: RemotePath("/a"), revision: Self.revision, range: 2..<5, limit: 10)
            #expect(read.bytes == Array("234".utf8))
            #expect(server.lines == ["GET /1/files/auto/a?rev=1a500000001 HTTP/1.1"])
            #expect(server.requests.first?.fields["range"] == "bytes=2-4")
        }
    }

    @Test("a thumbnail is asked for by size and format")
    func thumbnail() async throws {
        try await withRemote({ _, _ in .bytes(200, [1, 2], [metadataField("/a.jpg", [9])]) }) { remote, server in
            let (bytes, metadata) = try await remote.thumbnail(of: RemotePath("/a.jpg"), size: .xl, format: .png)
            #expect(bytes == [1, 2] && metadata.path.string == "/a.jpg")
            #expect(server.lines == ["GET /1/thumbnails/auto/a.jpg?size=xl&format=png HTTP/1.1"])
        }
    }

    @Test("powers are asked for once, and a delete depends on what was seen where the server can check it")
    func powers() async throws {
        let account =
            #"{"uid": 1, "display_name": "A", "quota_info": {"quota": 1, "normal": 0, "shared": 0, "datastores": 0}, "byteclub": {"version": 1, "conditional_delete": true}}"#
        let script: ScriptedServer.Script = { request, _ in
            .status(200, request.line.contains("account") ? account : fileJSON("/a", []))
        }
        try await withRemote(script) { remote, server in
            _ = try await remote.powers()
            _ = try await remote.delete(RemotePath("/a"), ifUnchangedSince: Self.revision)
            #expect(try await remote.powers().conditionalDelete)
            #expect(server.requests.count == 2)
            #expect(server.requests.last?.text == "root=auto&path=%2Fa&parent_rev=1a500000001")
        }
    }

    @Test("a server that cannot check is looked at before a delete")
    func plainDelete() async throws {
        let account = Self.rows[0].answer
        let script: ScriptedServer.Script = { request, _ in
            .status(200, request.line.contains("account") ? account : fileJSON("/a", [], revision: 7))
        }
        try await withRemote(script) { remote, server in
            await expectFailure(.conflict) {
                try await remote.delete(RemotePath("/a"), ifUnchangedSince: Self.revision)
            }
            #expect(!server.lines.contains { $0.contains("fileops") })
            _ = try await remote.delete(RemotePath("/a"), ifUnchangedSince: Revision.number(7))
            #expect(server.lines.last == "POST /1/fileops/delete HTTP/1.1")
        }
    }
}

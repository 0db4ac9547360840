import ByteClubCore
import GRDB
import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubServer

/// Every operation, every method it accepts, and everybody who might call it.
@Suite struct AuthorizationMatrixTests {
    /// Who calls.
    enum Caller: String, CaseIterable {
        case nobody, garbage, revoked, viewer, editor, owner

        /// The role, for those who have a valid token.
        var role: Role? {
            switch self {
            case .nobody, .garbage, .revoked: nil
            case .viewer: .viewer
            case .editor: .editor
            case .owner: .owner
            }
        }
    }

    private static let operations = Endpoint.all.filter {
        !$0.isPage && !["/assets", "/manifest.webmanifest", "/favicon.ico"].contains($0.name)
    }

    @Test("each call is allowed to exactly those whose role is enough, and to others it changes nothing")
    func matrix() async throws {
        try await TestServer.run(adjusting: { $0.settings.longpollMinimum = 0 }) { server in
            let club = try await Club(server)
            var calls = 0
            for operation in Self.operations {
                for method in operation.methods {
                    for caller in Caller.allCases {
                        guard let request = try await club.request(operation.name, method, by: caller) else {
                            Issue.record("no row for \(method) \(operation.name): add one to Club.request")
                            continue
                        }
                        let before = try await club.state()
                        let answer = try await server.send(request.line, request.fields, body: request.body)
                        let expected = request.status.map { [$0] } ?? Self.status(operation.role, caller)
                        let name = "\(request.line.split(separator: "?")[0]) by \(caller)"
                        #expect(expected.contains(answer.status), "\(name): \(answer.start) \(answer.text.prefix(200))")
                        if answer.status >= 400 {
                            #expect(try method == .head || !answer.refusal().isEmpty, "\(name)")
                            #expect(try await club.state() == before, "\(name) changed the folder")
                        }
                        calls += 1
                    }
                }
            }
            print("authorization matrix: \(calls) calls")
            #expect(calls >= Self.operations.count * Caller.allCases.count)
        }
    }

    @Test("a viewer's reads change nothing either, and what a viewer takes back is the viewer's own")
    func reads() async throws {
        try await TestServer.run(adjusting: { $0.settings.longpollMinimum = 0 }) { server in
            let club = try await Club(server)
            for operation in Self.operations where operation.name != "sync/links/revoke" {
                for method in operation.methods where operation.role.map({ $0 == .viewer }) ?? true {
                    guard let request = try await club.request(operation.name, method, by: .viewer) else { continue }
                    let before = try await club.state()
                    _ = try await server.send(request.line, request.fields, body: request.body)
                    #expect(try await club.state() == before, "\(request.line)")
                }
            }
            let others = try await club.request("sync/links/revoke", .post, by: .editor)
            let before = try await club.state()
            let answer = try await server.send(try #require(others).line, club.header(.viewer))
            #expect(answer.status == 404)
            #expect(try await club.state() == before)
        }
    }

    @Test("an upload, a cursor and a link of another member: the first two are nobody else's, the last is anybody's")
    func others() async throws {
        try await TestServer.run(adjusting: { $0.settings.longpollMinimum = 0 }) { server in
            let club = try await Club(server)
            let (ann, ben) = (club.header(.owner), club.header(.editor))
            let id = try await club.upload(ann)
            let chunk = try await server.send("PUT /1/chunked_upload?upload_id=\(id)&offset=3", ben, body: [1])
            #expect(chunk.status == 404)
            let commit = try await server.send("POST /1/commit_chunked_upload/auto/x.bin?upload_id=\(id)", ben)
            #expect(commit.status == 400)
            let mine = try await server.send("POST /1/commit_chunked_upload/auto/x.bin?upload_id=\(id)", ann)
            #expect(mine.status == 200, "what Ben tried must not have touched Ann's upload")
            let cursor = try await server.send("POST /1/delta", ann).text("cursor")
            #expect(try await server.send("POST /1/delta?cursor=\(cursor)", ben).status == 400)
            #expect(try await server.send("GET /1/longpoll_delta?cursor=\(cursor)&timeout=0", ben).status == 200)
            let reference = try await server.send("GET /1/copy_ref/auto/kept.md", ann).text("copy_ref")
            let copied = try await server.send(
                "POST /1/fileops/copy?from_copy_ref=\(reference)&to_path=/copied.md", ben)
            #expect(copied.status == 200)
            let viewer = try await server.send(
                "POST /1/fileops/copy?from_copy_ref=\(reference)&to_path=/again.md", club.header(.viewer))
            #expect(viewer.status == 403)
            for kind in ["shares", "media"] {
                let url = try await server.send("POST /1/\(kind)/auto/kept.md", ben).text("url")
                let target = "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/")
                for caller in Caller.allCases {
                    #expect(try await server.send("GET \(target)", club.header(caller)).status == 200)
                }
            }
        }
    }

    private static func status(_ needed: Role?, _ caller: Caller) -> Set<Int> {
        guard let needed else { return [200] }
        guard let role = caller.role else { return [401] }
        return role >= needed ? [200] : [403]
    }
}

/// A club with a member of each kind, and requests that would succeed for somebody whose role is enough.
private final class Club {
    struct Request {
        let line: String
        let fields: [String]
        var body: [UInt8] = []
        /// The status, when the role alone does not say it.
        var status: Int?
    }

    private let server: TestServer
    private var headers: [AuthorizationMatrixTests.Caller: [String]] = [.nobody: []]
    private var number = 0
    private var share = ""
    private var view = ""

    init(_ server: TestServer) async throws {
        self.server = server
        headers[.garbage] = ["Authorization: Bearer \(String(repeating: "0", count: 64))"]
        headers[.owner] = [server.bearer]
        headers[.editor] = [try await server.add("Ed", .editor)]
        headers[.viewer] = [try await server.add("Vi", .viewer)]
        headers[.revoked] = [try await server.add("Rob", .owner)]
        try await server.store.removeMember(name: "Rob")
        try await server.store("/kept.md", "kept")
        _ = try await server.send("PUT /1/files_put/auto/kept.jpg", body: Fixture.bytes("panoramas/dated.jpg"))
        share = try await path("shares")
        view = try await path("media")
    }

    func header(_ caller: AuthorizationMatrixTests.Caller) -> [String] { headers[caller] ?? [] }

    /// All that calls without permission must leave alone.
    func state() async throws -> [String] {
        let entries = try await server.store.read { folder in
            try folder.state.changes(after: 0, prefix: .root, includeDeleted: true, limit: 10_000)
        }
        let names = try await server.store.members().map { "\($0)" }
        let rows = try await server.store.query { database in
            try database.rows("SELECT (SELECT count(*) FROM upload) || ' ' || (SELECT count(*) FROM link)", []) {
                $0[0] as String
            }
        }
        return entries.map { "\($0)" } + names + rows
    }

    func upload(_ header: [String]) async throws -> String {
        try await server.send("PUT /1/chunked_upload", header, body: [1, 2, 3]).text("upload_id")
    }

    /// A request that succeeds when the caller may make it; nil for an operation that this does not know.
    func request(
        _ operation: String, _ method: HTTPRequest.Method, by caller: AuthorizationMatrixTests.Caller
    ) async throws -> Request? {
        number += 1
        let fields = header(caller)
        // What a call needs to be there belongs to the caller if the caller may have it, else to the owner.
        let owner = (caller.role ?? .viewer) >= .editor ? fields : header(.owner)
        let isUsed = caller.role.map { $0 >= .editor } ?? false
        func line(_ target: String) -> String { "\(method) /1/\(target)" }
        switch operation {
        case "account/info": return Request(line: line("account/info"), fields: fields)
        case "metadata": return Request(line: line("metadata/auto"), fields: fields)
        case "files" where method == .post:
            let form =
                "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\(number).md\"\r\n\r\nx\r\n--b--\r\n"
            return Request(
                line: line("files/auto/forms"), fields: fields + ["Content-Type: multipart/form-data; boundary=b"],
                body: Array(form.utf8))
        case "files": return Request(line: line("files/auto/kept.md"), fields: fields)
        case "files_put": return Request(line: line("files_put/auto/n\(number).md"), fields: fields, body: [1, 2])
        case "chunked_upload": return Request(line: line("chunked_upload"), fields: fields, body: [1, 2])
        case "commit_chunked_upload":
            let id = try await upload(owner)
            return Request(line: line("commit_chunked_upload/auto/n\(number).bin?upload_id=\(id)"), fields: fields)
        case "thumbnails": return Request(line: line("thumbnails/auto/kept.jpg"), fields: fields)
        case "search": return Request(line: line("search/auto?query=kept"), fields: fields)
        case "delta", "delta/latest_cursor": return Request(line: line(operation), fields: fields)
        case "longpoll_delta":
            let cursor = try await server.send("POST /1/delta", header(.owner)).text("cursor")
            return Request(line: line("longpoll_delta?timeout=0&cursor=\(cursor)"), fields: fields)
        case "revisions": return Request(line: line("revisions/auto/kept.md"), fields: fields)
        case "restore":
            let rev = try #require(try await server.store("/old\(number).md").rev)
            return Request(line: line("restore/auto/old\(number).md?rev=\(rev)"), fields: fields)
        case "fileops/copy":
            return Request(line: line("fileops/copy?from_path=/kept.md&to_path=/n\(number).md"), fields: fields)
        case "fileops/create_folder":
            return Request(line: line("fileops/create_folder?path=/n\(number)"), fields: fields)
        case "fileops/delete":
            try await server.store("/old\(number).md")
            return Request(line: line("fileops/delete?path=/old\(number).md"), fields: fields)
        case "fileops/move":
            try await server.store("/old\(number).md")
            return Request(
                line: line("fileops/move?from_path=/old\(number).md&to_path=/n\(number).md"), fields: fields)
        case "shares", "media", "copy_ref":
            // A second link to the same path is the first one, which has to be there before the state is taken.
            if isUsed || operation != "shares" {
                _ = try await server.send("POST /1/\(operation)/auto/kept.md", fields)
            }
            return Request(line: line("\(operation)/auto/kept.md"), fields: fields)
        case "view": return Request(line: "\(method) \(view)", fields: fields)
        case "oauth/request_token", "oauth/access_token":
            let app = try #require(server.member.oauth1)
            let signed = "oauth_consumer_key=\(app.consumerKey)&oauth_signature_method=PLAINTEXT"
            let isFirst = operation == "oauth/request_token"
            return Request(
                line: line(
                    "\(operation)?\(signed)&oauth_signature=\(app.consumerSecret)%26"
                        + (isFirst ? "" : "&oauth_token=unapproved")), fields: [], status: isFirst ? 200 : 401)
        case "oauth2/token":
            return Request(line: line("oauth2/token?grant_type=authorization_code"), fields: [], status: 400)
        case "oauth2/device_authorization":
            return Request(line: line("\(operation)?client_id=byteclub"), fields: [])
        case "oauth2/token_from_oauth1":
            return Request(line: line(operation), fields: fields, status: caller.role == nil ? 401 : 403)
        case "disable_access_token":
            guard let role = caller.role else { return Request(line: line(operation), fields: fields) }
            return Request(line: line(operation), fields: [try await server.add("Member \(number)", role)])
        case "/s": return Request(line: "\(method) \(share)", fields: fields, status: method == .post ? 405 : nil)
        case "/photos":
            // For members who are signed in; a token is none of the cookies that say so.
            let hash = ContentHasher.hash(Fixture.bytes("panoramas/dated.jpg"))
            return Request(line: "\(method) /photos/\(hash)/256.jpg", fields: fields, status: 403)
        case "sync/batch":
            let batch = #"{"operations":[{"op":"folder","op_id":"o\#(number)","parent":0,"name":"n\#(number)"}]}"#
            return Request(line: line("sync/batch"), fields: fields, body: Array((batch + "\n").utf8))
        case "sync/changes", "sync/history", "sync/digest": return Request(line: line(operation), fields: fields)
        case "sync/chunks" where method == .post:
            return Request(
                line: line("sync/chunks"), fields: fields, body: Array(#"{"chunks":[]}"#.utf8) + [10],
                status: isUsed ? 204 : nil)
        case "sync/chunks":
            let bytes = Array("chunk \(number)".utf8)
            return Request(
                line: line("sync/chunks/\(ContentHasher.hash(bytes))"), fields: fields, body: bytes,
                status: isUsed ? 204 : nil)
        case "sync/chunks/need":
            return Request(line: line("sync/chunks/need"), fields: fields, body: Array(#"{"hashes":[]}"#.utf8))
        case "sync/password" where method == .post:
            return Request(line: line("\(operation)?password=long%20enough"), fields: fields)
        case "sync/password": return Request(line: line(operation), fields: fields)
        case "sync/links": return Request(line: line(operation), fields: fields)
        case "sync/links/revoke":
            let maker = caller.role == nil ? header(.owner) : fields
            _ = try await server.send("POST /1/media/auto/kept.md", maker)
            let links = try await server.send("GET /1/sync/links", maker).decoded(PublicLinkPage.self).links
            let own = links.first { $0.kind == .media && $0.path.string == "/kept.md" }
            return Request(line: line("\(operation)?id=\(own?.id ?? 0)"), fields: fields)
        default: return nil
        }
    }

    private func path(_ operation: String) async throws -> String {
        let url = try await server.post("/1/\(operation)/auto/kept.md").text("url")
        return "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/")
    }
}

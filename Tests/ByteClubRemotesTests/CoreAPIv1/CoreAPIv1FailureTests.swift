import ByteClubCore
import ByteClubHTTP
import ByteClubRemotes
import Synchronization
import TestSupport
import Testing

@Suite("CoreAPIv1Remote's failures")
struct CoreAPIv1FailureTests {
    static let statuses: [(Int, String, [String], RemoteError.Code)] = [
        (400, #"{"error": "bad"}"#, [], .badRequest),
        (400, #"{"error": {"cursor": "not ours"}}"#, [], .badCursor),
        (400, #"{"error": "Invalid cursor"}"#, [], .badCursor),
        (401, #"{"error": "who are you"}"#, [], .unauthorized),
        (403, #"{"error": "no"}"#, [], .forbidden),
        (404, #"{"error": "Path '/a' not found"}"#, [], .notFound),
        (405, "", [], .protocolViolation),
        (406, #"{"error": "too many"}"#, [], .tooMany),
        (409, #"{"error": "conflict"}"#, [], .conflict),
        (411, #"{"error": "length"}"#, [], .protocolViolation),
        (413, #"{"error": "large"}"#, [], .tooLarge),
        (415, #"{"error": "no image"}"#, [], .undecodable),
        (416, #"{"error": "range"}"#, [], .badRequest),
        (418, "teapot", [], .protocolViolation),
        (429, #"{"error": "slow"}"#, ["Retry-After: 100.5"], .rateLimited),
        (500, "<html>oops", [], .serverFault),
        (503, #"{"error": "slow"}"#, ["Retry-After: 100"], .rateLimited),
        (503, #"{"error": "later"}"#, [], .serverFault),
        (507, #"{"error": "full"}"#, [], .overQuota),
        (304, "", [], .protocolViolation),
    ]

    @Test("each status is the error of the table", arguments: statuses)
    func status(_ status: Int, _ body: String, _ fields: [String], _ code: RemoteError.Code) async throws {
        let script: ScriptedServer.Script = { _, _ in
            .status(status, body, fields + ["X-Dropbox-Request-Id: r42"])
        }
        try await withRemote(script) { remote, server in
            let error = await expectFailure(code) { try await remote.metadata(at: RemotePath("/a")) }
            #expect(error?.requestID == "r42")
            #expect(error?.server == server.origin)
            for word in ["GET", "/1/", "\(status)"] { #expect(error?.message.contains(word) == false) }
            #expect(error?.retryAfter == (fields.isEmpty ? nil : status == 429 ? 100.5 : 100))
        }
    }

    static let strangers: [(Int, String, [String])] = [
        (401, "<html>Sign in to the wireless network", ["WWW-Authenticate: Basic realm=\"guests\""]), (401, "{}", []),
        (403, "blocked by policy", []), (404, "", []), (407, "", ["Proxy-Authenticate: Basic realm=\"proxy\""]),
        (403, #"{"message": "Forbidden"}"#, ["Content-Type: application/json"]),
    ]

    @Test("a refusal without the club's words is one of the way, and may pass", arguments: strangers)
    func stranger(_ status: Int, _ body: String, _ fields: [String]) async throws {
        try await withRemote({ _, _ in .status(status, body, fields) }) { remote, server in
            let error = await expectFailure(.unreachable) { try await remote.metadata(at: RemotePath("/a")) }
            #expect(error?.isRetryable == true)
            #expect(
                error?.message == "cannot reach the club at \(server.origin.dropFirst(7)): another service answers"
            )
        }
    }

    @Test("only the club itself says that a password is wrong, or that it sets none")
    func passwords() async throws {
        for (status, body) in [(403, "blocked by policy"), (404, ""), (403, #"{"message": "Forbidden"}"#)] {
            try await withRemote({ _, _ in .status(status, body) }) { remote, _ in
                await expectFailure(.unreachable) { try await remote.hasPassword() }
                await expectFailure(.unreachable) { try await remote.setPassword("new", replacing: "old") }
            }
        }
        let wrong: ScriptedServer.Script = { request, _ in
            request.line.hasPrefix("GET")
                ? .status(404, #"{"error": "there is no such call"}"#)
                : .status(403, #"{"error": {"current": "the current password is wrong"}}"#)
        }
        try await withRemote(wrong) { remote, _ in
            let (known, isSet) = try await (remote.hasPassword(), remote.setPassword("new", replacing: "old"))
            #expect(known == nil && !isSet)
        }
        let right: ScriptedServer.Script = { _, _ in .status(200, #"{"is_set": true}"#) }
        try await withRemote(right) { remote, _ in
            let (known, isSet) = try await (remote.hasPassword(), remote.setPassword("new", replacing: "old"))
            #expect(known == true && isSet)
        }
    }

    @Test("one word of the club is enough: its number without a text, or its text without a number")
    func ownWords() async throws {
        for (body, fields) in [("", ["X-Dropbox-Request-Id: r42"]), (#"{"error": {"a": "b"}}"#, [])] {
            try await withRemote({ _, _ in .status(401, body, fields) }) { remote, _ in
                _ = await expectFailure(.unauthorized) { try await remote.metadata(at: RemotePath("/a")) }
            }
        }
    }

    static let lies: [(String, String)] = [
        ("garbage", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"path\": "),
        ("another type", "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n[\"not, a map\"]"),
        ("a bad path", "HTTP/1.1 200 OK\r\nContent-Length: 33\r\n\r\n{\"path\": \"/../x\", \"is_dir\": true} "),
        ("a missing field", "HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"path\": \"/ab\"}"),
        ("nothing", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ("bytes", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\u{0}\u{1}\u{2}\u{3}"),
    ]

    @Test("a body that is not the protocol's is told in one line", arguments: lies)
    func garbage(_ name: String, _ reply: String) async throws {
        try await withRemote({ _, _ in .raw(reply) }) { remote, server in
            let error = await expectFailure(.protocolViolation) { try await remote.metadata(at: RemotePath("/a")) }
            #expect(
                error?.message.hasPrefix("the answer of the club at \(server.origin.dropFirst(7)) violates") == true)
            #expect(error?.message.contains("TOKEN") == false)
        }
    }

    @Test("a body that ends early, and no answer at all, are a server that went away")
    func truncated() async throws {
        for reply in ["HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"path\": \"/a\"", ""] {
            try await withRemote({ _, _ in .raw(reply) }) { remote, server in
                let error = await expectFailure(.unreachable) { try await remote.metadata(at: RemotePath("/a")) }
                #expect(error?.isRetryable == true)
                #expect(server.requests.count > 1, "a GET is tried again")
            }
        }
    }

    @Test("a wait for a change that nobody answers ends soon after its own time")
    func silence() async throws {
        let script: ScriptedServer.Script = { _, _ in .init(bytes: []) }
        try await withRemote(script) { remote, server in
            var remote = remote
            remote.answerDelay = .milliseconds(10)
            await expectFailure(.unreachable) { [remote] in
                try await remote.journal(after: "c", limit: 10, contents: .all, wait: .seconds(1))
            }
            await expectFailure(.unreachable) { [remote] in
                try await remote.history(before: nil, after: 1, limit: 10, wait: .seconds(1))
            }
            #expect(server.lines.count == 2)
        }
    }

    @Test("after a 500 the same GET is tried again")
    func retries() async throws {
        let script: ScriptedServer.Script = { _, number in
            number < 2 ? .status(500, "{}") : .status(200, fileJSON("/a", []))
        }
        try await withRemote(script) { remote, server in
            let path = try RemotePath("/a")
            #expect(try await remote.metadata(at: path).path == path)
            #expect(server.requests.count == 3)
        }
    }

    @Test("a server that is not there, or speaks otherwise, is named by its host, with what is wrong and nothing else")
    func unreachable() async throws {
        let server = try ScriptedServer { _, _ in .drop() }
        let origin = server.origin
        server.stop()
        let deaf = try ScriptedServer { _, _ in .drop() }
        defer { deaf.stop() }
        let silent = try ScriptedServer { _, _ in .init(bytes: []) }
        defer { silent.stop() }
        let cases = [
            (origin, ["no server is listening"]), (deaf.origin, ["connection closed; try https://"]),
            // A resolver out of reach takes its time, and a busy machine may not even connect within it.
            ("https://nowhere.invalid", ["unknown host name", "it does not answer", "it did not answer in "]),
            (silent.origin, ["it did not answer in ", "it does not answer"]),
        ]
        for (origin, reasons) in cases {
            var configuration = SessionConfiguration.ephemeral
            configuration.retryPolicy = .never
            configuration.timeoutForRequest = .seconds(1)
            configuration.proxy = .none
            let session = try Session(configuration: configuration)
            let remote = try CoreAPIv1Remote(origin: origin, api: session)
            let error = await expectFailure(.unreachable) { try await remote.account() }
            let host = origin.split(separator: "/").last ?? ""
            let message = error?.message ?? ""
            #expect(reasons.contains { message.hasPrefix("cannot reach the club at \(host): \($0)") }, "\(message)")
            await session.invalidateAndCancel()
        }
    }

    @Test("who has answered over plain http needs no https when the connection ends, and is to be asked again")
    func closed() async throws {
        let server = try ScriptedServer { _, number in number == 0 ? .status(200, fileJSON("/a", [])) : .drop() }
        defer { server.stop() }
        var configuration = SessionConfiguration.ephemeral
        configuration.retryPolicy = .never
        configuration.proxy = .none
        let session = try Session(configuration: configuration)
        let remote = try CoreAPIv1Remote(origin: server.origin, api: session)
        let path = try RemotePath("/a")
        _ = try await remote.metadata(at: path)
        for _ in 0..<2 {
            let error = await expectFailure(.unreachable) { try await remote.metadata(at: path) }
            let host = server.origin.dropFirst(7)
            #expect(
                error?.message == "cannot reach the club at \(host): the server closed the connection")
        }
        await session.invalidateAndCancel()
    }

    @Test("a transfer that stalls half-way is told with how far it got, and one that was never answered is not")
    func stalled() async throws {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n".utf8)
        let half = ScriptedServer.Reply(bytes: head + noise(2048))
        let server = try ScriptedServer { _, _ in half }
        defer { server.stop() }
        var configuration = SessionConfiguration.ephemeral
        configuration.retryPolicy = .never
        configuration.timeoutForRequest = .seconds(1)
        configuration.proxy = .none
        let session = try Session(configuration: configuration)
        let remote = try CoreAPIv1Remote(origin: server.origin, api: session)
        let error = await expectFailure(.unreachable) { try await remote.metadata(at: RemotePath("/a")) }
        let host = server.origin.dropFirst(7)
        #expect(error?.message == "the transfer with the club at \(host) stalled after 2.0 KiB")
        await session.invalidateAndCancel()

        let url = "https://club.example/1/chunked_upload"
        var stall = TransferError(.timedOut, "nothing moved for 60 seconds", phase: .send, url: url)
        stall.bytesSent = 1 << 20
        #expect(
            RemoteError(stall, from: 3 << 20).message
                == "the transfer with the club at club.example stalled after 4.0 MiB")
        // All was sent, which took its time, and then there was silence.
        stall.phase = .wait
        stall.metrics.total = .seconds(600)
        stall.metrics.attempts = [TaskMetrics.Attempt()]
        stall.metrics.attempts[0].wait = .seconds(60)
        #expect(
            RemoteError(stall).message == "cannot reach the club at club.example: it did not answer in 60 s")
    }

    @Test(
        "what libcurl says of TLS is said in few words",
        arguments: [
            ("error:0A00010B:SSL routines::wrong version number", "it does not use TLS"),
            ("SSL certificate problem: certificate has expired", "its certificate has expired"),
            ("SSL certificate problem: self-signed certificate", "its certificate is not trusted"),
            ("SSL: no alternative certificate subject name matches", "its certificate is for another name"),
        ])
    func distrust(_ message: String, _ words: String) {
        let error = RemoteError(TransferError(.tls, message, url: "https://club.example:8443/1/account/info"))
        #expect(error.code == .unreachable)
        #expect(error.message == "cannot reach the club at club.example:8443: \(words)")
    }

    @Test("addresses that cannot be used are refused before anything is sent")
    func origins() async throws {
        let session = try Session(configuration: .ephemeral)
        for origin in [
            "", "club.example", "ftp://club.example", "http://club.example", "https://", "https://a b", "https://u:p@h",
            "https://h:0", "https://h:99999", "https://h/?q", "https://h/#f", "https://é.example",
            "http://127.0.0.1.evil.example",
            "http://[::2]", "https://h\r\nX: y", "http://localhost.evil.example:80",
        ] {
            await expectFailure(.badRequest) { try CoreAPIv1Remote(origin: origin, api: session) }
        }
        for origin in [
            "https://club.example", "HTTPS://Club.Example:8443/base/", "http://127.0.0.1:8080", "http://localhost",
            "http://[::1]:80/",
        ] {
            _ = try CoreAPIv1Remote(origin: origin, api: session)
        }
        _ = try CoreAPIv1Remote(origin: "http://club.example", api: session, allowsInsecureHTTP: true)
        await session.invalidateAndCancel()
    }

    @Test(
        "a server that redirects sends nobody to a place that only the client reaches",
        arguments: [301, 302, 303, 307, 308])
    func redirect(status: Int) async throws {
        let other = try ScriptedServer { _, _ in .status(200, fileJSON("/a", Array("a note".utf8))) }
        defer { other.stop() }
        let elsewhere = "Location: \(other.origin)/1/metadata/auto/a"
        try await withRemote({ _, _ in .status(status, "", [elsewhere]) }) { remote, _ in
            let path = try RemotePath("/a")
            await expectFailure(.protocolViolation) { try await remote.metadata(at: path) }
            await expectFailure(.protocolViolation) {
                try await remote.put(
                    .bytes(Array("a note".utf8)), at: path, condition: .create, policy: .fail, progress: nil)
            }
            await expectFailure(.protocolViolation) { try await remote.delete(path, ifUnchangedSince: nil) }
            await expectFailure(.protocolViolation) { try await remote.putChunk([1]) }
            #expect(other.requests.isEmpty)
        }
    }

    @Test("a redirect within the server's own address is followed by what only reads")
    func ownRedirect() async throws {
        let script: ScriptedServer.Script = { request, _ in
            request.line.contains("/elsewhere")
                ? .status(200, fileJSON("/a", [])) : .status(307, "", ["Location: /elsewhere"])
        }
        try await withRemote(script) { remote, server in
            let path = try RemotePath("/a")
            #expect(try await remote.metadata(at: path).path == path)
            await expectFailure(.protocolViolation) {
                try await remote.put(.bytes([1]), at: path, condition: .create, policy: .fail, progress: nil)
            }
            #expect(server.lines.filter { $0.contains("/elsewhere") }.count == 1)
        }
    }

    @Test("a server that sends more bytes than it told of fills no disk", arguments: [true, false])
    func excess(isAnnounced: Bool) async throws {
        let directory = try TemporaryDirectory()
        let sent = [UInt8](repeating: 7, count: 1 << 20)
        let length = isAnnounced ? "Content-Length: \(sent.count)" : "Connection: close"
        let field = metadataField("/a", Array(sent.prefix(1_000)))
        let head = Array("HTTP/1.1 200 OK\r\n\(length)\r\n\(field)\r\n\r\n".utf8)
        let script: ScriptedServer.Script = { _, _ in ScriptedServer.Reply(bytes: head + sent, closes: true) }
        try await withRemote(script) { remote, _ in
            let path = try RemotePath("/a")
            await expectFailure(.protocolViolation) {
                try await remote.content(at: path, revision: nil, range: nil, limit: 1 << 21)
            }
            let most = Mutex<Int64>(0)
            for (limit, code) in [(nil, .protocolViolation), (1_000, .protocolViolation), (10, .tooLarge)]
                as [(Int64?, RemoteError.Code)]
            {
                await expectFailure(code) {
                    try await remote.download(
                        path, revision: nil, limit: limit, to: directory.path + "/target"
                    ) { update in most.withLock { $0 = max($0, update.completed) } }
                }
            }
            #expect(most.withLock { $0 } < 1 << 20)
            #expect(TestFile.names(in: directory.path).isEmpty)
        }
    }

    @Test("an answer without an end takes no more memory than the largest that the protocol has")
    func endlessAnswer() async throws {
        let part = String(repeating: "[\"x\", null],", count: 100_000)
        let script: ScriptedServer.Script = { _, _ in
            .raw("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: part, count: 24))
        }
        try await withRemote(script) { remote, _ in
            await expectFailure(.protocolViolation) { try await remote.delta(after: nil, prefix: .root) }
            await expectFailure(.protocolViolation) {
                try await remote.journal(after: nil, limit: 2_000, contents: .all, wait: .zero)
            }
        }
    }

    @Test("metadata of a negative length overflow nothing")
    func negativeLength() async throws {
        let answer = #"{"path": "/a", "is_dir": false, "bytes": -9223372036854775808}"#
        let list = #"{"path": "/", "is_dir": true, "contents": [\#(answer)]}"#
        try await withRemote({ request, _ in .status(200, request.line.contains("list=true") ? list : answer) }) {
            remote, _ in
            await expectFailure(.protocolViolation) { try await remote.metadata(at: RemotePath("/a")) }
            await expectFailure(.protocolViolation) {
                try await remote.list(.root, unless: nil, includeDeleted: false)
            }
        }
    }

    @Test("a delete whose answer is lost is not an error")
    func lostReply() async throws {
        let script: ScriptedServer.Script = { request, number in
            if number == 0 { return .drop(after: Int(request.fields["content-length"] ?? "") ?? 0) }
            if request.line.hasPrefix("POST") { return .status(404, #"{"error": "Path '/a' not found"}"#) }
            return .status(200, #"{"path": "/a", "is_dir": false, "is_deleted": true, "bytes": 0}"#)
        }
        try await withRemote(script) { remote, _ in
            let path = try RemotePath("/a")
            #expect(try await remote.delete(path, ifUnchangedSince: nil).isDeleted)
        }
    }

    @Test("a file that is cancelled while it comes leaves nothing")
    func cancelled() async throws {
        let directory = try TemporaryDirectory()
        let target = directory.path + "/target"
        let script: ScriptedServer.Script = { _, _ in
            var reply = ScriptedServer.Reply.raw(
                "HTTP/1.1 200 OK\r\nX-Dropbox-Metadata: {\"path\":\"/a\",\"is_dir\":false,\"bytes\":1000000}\r\n"
                    + "Content-Length: 1000000\r\n\r\nsome")
            reply.closes = false
            return reply
        }
        try await withRemote(script) { remote, server in
            let task = Task {
                try await remote.download(RemotePath("/a"), revision: nil, limit: nil, to: target, progress: nil)
            }
            while server.requests.isEmpty { await Task.yield() }
            task.cancel()
            await expectFailure(.cancelled) { try await task.value }
            #expect(TestFile.names(in: directory.path).isEmpty)
        }
    }

    @Test("bytes that are not those of the file are refused and leave nothing")
    func wrongBytes() async throws {
        let directory = try TemporaryDirectory()
        let other = ContentHasher.hash([1])
        let answers: [ScriptedServer.Reply] = [
            .bytes(200, [1, 2, 3], [metadataField("/a", [1, 2, 3], hash: other)]),
            .bytes(200, [1, 2], [metadataField("/a", [1, 2, 3])]),
            .bytes(200, [1, 2, 3]),
            .bytes(200, [1, 2, 3], ["X-Dropbox-Metadata: {nonsense"]),
        ]
        for answer in answers {
            try await withRemote({ _, _ in answer }) { remote, _ in
                let path = try RemotePath("/a")
                await expectFailure(.protocolViolation) {
                    try await remote.download(
                        path, revision: nil, limit: nil, to: directory.path + "/target", progress: nil)
                }
                await expectFailure(.protocolViolation) {
                    try await remote.content(at: path, revision: nil, range: nil, limit: 100)
                }
            }
            #expect(TestFile.names(in: directory.path).isEmpty)
        }
    }
}

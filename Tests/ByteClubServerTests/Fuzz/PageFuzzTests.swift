import ByteClubCore
import GRDB
import Glibc
import HTTPTypes
import Logging
import TestSupport
import Testing

@testable import ByteClubServer

/// Forms and addresses that no page would send, against the real program.
///
/// `BYTECLUB_FUZZ` says how many requests, `BYTECLUB_FUZZ_SEED` from which seed; `Tests/Tools/fuzz` sets them.
@Suite struct PageFuzzTests {
    private static let members: [(name: String, role: Role)] = [("Ann", .owner), ("Ed", .editor), ("Vi", .viewer)]

    /// A server with members who are signed in.
    private struct Club {
        let server: ServerProcess
        var sessions: [PageRequests.Session] = []
        let bearer: String

        init(_ data: String) async throws {
            let store = try SQLiteStore(
                directory: data, mode: .administration, now: { APIDate(seconds: SystemTime.seconds()) },
                logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() })
            var cookies: [String] = []
            var token = ""
            for (name, role) in members {
                let member = try await store.addMember(name: name, role: role, oauth1: false)
                if token.isEmpty { token = member.token }
                cookies.append(try await store.addWebSession(member: member.uid, lifetime: 86_400))
            }
            try store.close()
            bearer = "Authorization: Bearer \(token)"
            server = try await ServerProcess(
                data: data, arguments: ["--log-level", "error", "--attempt-rate", "0", "--anonymous-rate", "0"])
            for (cookie, member) in zip(cookies, members) {
                let page = try #require(await send("GET /login", ["Cookie: byteclub=\(cookie)"])).text
                let token = String(try #require(page.firstMatch(of: /name="csrf" value="([0-9a-f]{64})"/)).1)
                let fields = ["Cookie: byteclub=\(cookie)", "X-Form-Token: \(token)"]
                let begun = await send("POST /gallery/upload/piece?offset=0", fields, [1, 2, 3])
                let upload = member.role == .viewer ? "none" : try #require(begun).text("upload_id")
                sessions.append(PageRequests.Session(cookie: cookie, token: token, upload: upload))
            }
        }

        func send(_ line: String, _ fields: [String], _ body: [UInt8] = []) async -> RawMessage? {
            await RawExchange.send(
                line, fields: fields + ["Content-Length: \(body.count)"], body: body, port: server.port)
        }

        func fill() async throws {
            let photo = Fixture.bytes("panoramas/dated.jpg")
            for (path, body) in [
                ("a.md", Array("# a\n\n- [ ] b\n".utf8)), ("photos/p.jpg", photo), ("kept.txt", [107]),
            ] {
                #expect(await send("PUT /1/files_put/auto/byteclub/\(path)", [bearer], body)?.status == 200)
            }
        }

        var processor: Double { server.process.map { ProcessorTime.seconds(of: $0.pid) } ?? .infinity }
        var memory: Double { server.process.map { ProcessorTime.memory(of: $0.pid) } ?? .infinity }
    }

    @Test("random forms and addresses get an answer below 500, and the data is sound", .timeLimit(.minutes(30)))
    func random() async throws {
        let count = Self.variable("BYTECLUB_FUZZ").flatMap { Int($0) } ?? 1500
        let seed = Self.variable("BYTECLUB_FUZZ_SEED").flatMap { UInt64($0) } ?? .random(in: .min ... .max)
        print("page fuzz: \(count) requests, seed \(seed)")
        let directory = try TemporaryDirectory()
        let club = try await Club(directory.path + "/data")
        try await club.fill()
        let (sessions, port) = (club.sessions, club.server.port)
        let (start, memory) = (club.processor, club.memory)
        let answers = await withTaskGroup(of: [Int: Int].self) { group in
            for client in 0..<3 {
                group.addTask {
                    await BackgroundThread.run {
                        Self.ask(count / 3, sessions, seed: seed &+ UInt64(client) << 32, port)
                    }
                }
            }
            return await group.reduce(into: [Int: Int]()) { $0.merge($1, uniquingKeysWith: +) }
        }
        print("page fuzz:", answers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
        #expect(answers.keys.allSatisfy { $0 < 500 && $0 > 0 }, "seed \(seed)")
        #expect(
            answers[200, default: 0] > count / 20 && answers[303, default: 0] > count / 50, "seed \(seed): \(answers)")
        let (time, growth) = (club.processor - start, club.memory - memory)
        print("page fuzz: \(time) s of processor, \(growth) MiB more")
        #expect(time < 10 + 0.1 * Double(count), "seed \(seed)")
        #expect(growth < 256, "seed \(seed)")
        #expect(await club.send("GET /1/files/auto/byteclub/kept.txt", [club.bearer])?.body == [107], "seed \(seed)")
        #expect(await club.server.stop()?.status == 0, "seed \(seed)")
        let store = try SQLiteStore(
            directory: club.server.data, mode: .server, now: { APIDate(seconds: SystemTime.seconds()) },
            logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() })
        let check = try await store.query { try $0.firstRow("PRAGMA integrity_check", []) { $0[0] as String } }
        #expect(check == "ok")
        try store.close()
    }

    private static func ask(
        _ count: Int, _ sessions: [PageRequests.Session], seed: UInt64, _ port: UInt16
    ) -> [Int: Int] {
        var requests = PageRequests(sessions, seed: seed)
        var answers: [Int: Int] = [:]
        for number in 0..<count {
            let bytes = requests.next()
            guard let connection = RawConnection(port: port, timeout: 60) else {
                answers[599, default: 0] += 1
                break
            }
            connection.send(bytes)
            connection.endSending()
            let answer = RawMessage(connection.receiveAll())
            // Who promises more bytes than come has hung up, and gets no answer.
            let status = answer?.status ?? 1
            answers[status, default: 0] += 1
            if status >= 500 {
                print(
                    "page fuzz: request \(number) of \(seed) got \(status):",
                    String(decoding: bytes.prefix(600), as: UTF8.self))
            }
        }
        return answers
    }

    @Test("a form of megabytes is refused at once, and the longest that are read take no memory and little time")
    func large() async throws {
        let directory = try TemporaryDirectory()
        let club = try await Club(directory.path + "/data")
        try await club.fill()
        let editor = club.sessions[1]
        let fields = ["Cookie: byteclub=\(editor.cookie)", "Content-Type: application/x-www-form-urlencoded"]
        let (start, memory) = (club.processor, club.memory)
        for endpoint in Endpoint.all where endpoint.isPage && endpoint.methods == [.post] && endpoint.cost.body == .form
        {
            let target = endpoint.tail.accepts(0) ? endpoint.name : endpoint.name + "/x"
            let body = Array("csrf=\(editor.token)&text=".utf8) + [UInt8](repeating: 0x5B, count: 4 << 20)
            let answer = await club.send("POST \(target)", fields, body)
            #expect(answer == nil || answer?.status == 413, "\(target): \(answer?.start ?? "")")
        }
        for piece in [
            "[", "![", "[](", "*a_ ", "> ", "|", "- ", "`", "<", "a|", "\n", "- [ ] a\n", "\u{301}", "http://",
        ] {
            let text = PercentEncoding.encode(String(String(repeating: piece, count: 20_000).utf8.prefix(19_998)) ?? "")
            guard text.utf8.count < 64_000 else { continue }
            let before = club.processor
            for (target, more) in [
                ("/notes/preview", "&path=/byteclub/a.md"), ("/notes/new", "&name=n"), ("/gallery/byteclub/a.md", ""),
            ] {
                let answer = await club.send(
                    "POST \(target)", fields, Array("csrf=\(editor.token)\(more)&text=\(text)".utf8))
                #expect([200, 303, 400, 409].contains(answer?.status ?? 0), "\(target) \(piece.debugDescription)")
            }
            for target in ["/notes", "/gallery?show=notes", "/gallery/byteclub/n.md"] {
                #expect(await club.send("GET \(target)", fields)?.status == 200, "\(target) \(piece.debugDescription)")
            }
            let time = club.processor - before
            #expect(time < 12, "\(time) s of processor for \(piece.debugDescription)")
        }
        let query = String(repeating: "q=[](", count: 3000)
        #expect(await club.send("GET /gallery?\(query)", fields)?.status == 400, "more values than a query may have")
        let (time, growth) = (club.processor - start, club.memory - memory)
        print("large forms: \(time) s of processor, \(growth) MiB more")
        #expect(growth < 192)
        await club.server.stop()
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}

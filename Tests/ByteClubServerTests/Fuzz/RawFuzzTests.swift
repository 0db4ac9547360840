import ByteClubCore
import GRDB
import Glibc
import Logging
import TestSupport
import Testing

@testable import ByteClubServer

/// Bytes that no client would send, against the real program.
///
/// `BYTECLUB_FUZZ` says how many connections' worth, `BYTECLUB_FUZZ_SEED` from which seed; `Tests/Tools/fuzz` sets
/// them.
@Suite struct RawFuzzTests {
    private static let clients = 8
    private static let rounds = 5
    /// 505 is for another version of HTTP; 503 and 507 would be a server's that stops or is full, and here it is
    /// neither.
    private static let allowed = Set(100..<500).union([505])

    private struct Tally {
        var connections = 0
        var answers: [Int: Int] = [:]
        var faults: [String] = []

        mutating func add(_ other: Tally) {
            connections += other.connections
            answers.merge(other.answers, uniquingKeysWith: +)
            faults += other.faults
        }
    }

    @Test(
        "garbage gets a refusal or nothing: no fault of the server, no growth, and the data is sound",
        .timeLimit(.minutes(30)))
    func garbage() async throws {
        let count = Self.variable("BYTECLUB_FUZZ").flatMap { Int($0) } ?? 2000
        let seed = Self.variable("BYTECLUB_FUZZ_SEED").flatMap { UInt64($0) } ?? .random(in: .min ... .max)
        print("fuzz: \(count) connections, seed \(seed)")
        let directory = try TemporaryDirectory()
        let data = directory.path + "/data"
        let added = try await Program.run("byteclub-server", ["members", "add", "Ann", "--data", data])
        let bearer = "Authorization: Bearer \(added.lines.first ?? "")"
        let server = try await ServerProcess(
            data: data,
            arguments: [
                "--longpoll-minimum", "0", "--log-level", "error", "--attempt-rate", "0", "--anonymous-rate", "0",
            ])
        let port = server.port
        func exchange(_ line: String, _ body: [UInt8] = []) async -> RawMessage? {
            await RawExchange.send(
                line, fields: [bearer, "Content-Length: \(body.count)"], body: body, port: port)
        }
        let kept: [UInt8] = Array("kept as it was".utf8)
        #expect(await exchange("PUT /1/files_put/auto/kept.md", kept)?.status == 200)
        let cursor = try #require(try await exchange("POST /1/delta")?.text("cursor"))
        var tally = Tally()
        var memory: [Int64] = []
        for round in 0..<UInt64(Self.rounds) {
            tally.add(await Self.run(count / Self.rounds, seed: seed &+ round, bearer, cursor, port))
            memory.append(try #require(server.process).currentMemory())
        }
        print(
            "fuzz: \(tally.connections) connections, answers",
            tally.answers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "),
            "- resident after each part:", memory.map { "\($0 >> 10) KiB" }.joined(separator: ", "))
        #expect(tally.faults.isEmpty, "seed \(seed)")
        for fault in tally.faults.prefix(5) { print("fuzz: \(fault)") }
        #expect(memory.allSatisfy { $0 > 0 }, "the server is gone (seed \(seed))")
        let (first, last) = (memory.first ?? 0, memory.last ?? 0)
        #expect(last < first + 32 << 20, "the server grew from \(first) to \(last) (seed \(seed))")
        let read = await exchange("GET /1/files/auto/kept.md")
        #expect(read?.body == kept)
        // Every entry that the server tells of has its content.
        let page: DeltaPage = try #require(try await exchange("POST /1/delta")?.decoded())
        for entry in page.entries.prefix(300) {
            guard let metadata = entry.metadata, !metadata.isFolder else { continue }
            let path = metadata.path.components.map { PercentEncoding.encode($0) }.joined(separator: "/")
            let content = await exchange("GET /1/files/auto/\(path)")
            #expect(content?.status == 200 && content.map { ContentHasher.hash($0.body) } == metadata.contentHash)
        }
        let end = await server.stop()
        #expect(end?.status == 0)
        let store = try SQLiteStore(
            directory: data, mode: .server, now: { APIDate(seconds: SystemTime.seconds()) },
            logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() })
        let check = try await store.query { try $0.firstRow("PRAGMA integrity_check", []) { $0[0] as String } }
        #expect(check == "ok")
        try store.close()
    }

    private static func run(_ count: Int, seed: UInt64, _ bearer: String, _ cursor: String, _ port: UInt16) async
        -> Tally
    {
        await withTaskGroup(of: Tally.self) { group in
            for client in 0..<clients {
                group.addTask {
                    await BackgroundThread.run {
                        var requests = RequestMutation(
                            bearer: bearer, cursor: cursor, seed: seed &+ UInt64(client) << 32)
                        var tally = Tally()
                        for number in 0..<(count / clients) {
                            let bytes = requests.next()
                            tally.connections += 1
                            guard let connection = RawConnection(port: port, timeout: 10) else {
                                tally.faults.append("client \(client), request \(number): nobody listens")
                                break
                            }
                            connection.send(bytes)
                            connection.endSending()
                            let answer = connection.receiveAll()
                            for status in statuses(answer) {
                                tally.answers[status, default: 0] += 1
                                if !allowed.contains(status) {
                                    tally.faults.append(
                                        "client \(client), request \(number) got \(status): "
                                            + String(decoding: bytes.prefix(400), as: UTF8.self).debugDescription)
                                }
                            }
                        }
                        return tally
                    }
                }
            }
            var tally = Tally()
            for await other in group { tally.add(other) }
            return tally
        }
    }

    /// The statuses of all answers in what a server sent.
    private static func statuses(_ bytes: [UInt8]) -> [Int] {
        let mark = Array("HTTP/1.1 ".utf8)
        var statuses: [Int] = []
        var place = 0
        while let found = bytes[place...].firstIndex(of: mark[0]) {
            place = found + 1
            guard bytes[found...].starts(with: mark), found + 12 <= bytes.count,
                found == 0 || bytes[found - 1] == 10,
                let status = Int(String(decoding: bytes[(found + 9)..<(found + 12)], as: UTF8.self))
            else { continue }
            statuses.append(status)
        }
        return statuses
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}

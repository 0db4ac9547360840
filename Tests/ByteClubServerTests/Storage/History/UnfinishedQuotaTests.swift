import ByteClubCore
import CLinux
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("What is not finished counts against quotas") struct UnfinishedQuotaTests {
    private static let quota: Int64 = 1_000_000
    private static let limited = HistorySettings(memberQuota: quota)

    /// The bytes of all files in a folder of the data directory.
    private static func size(_ server: TestServer, _ folder: String) throws -> Int64 {
        try FileSizes.sum(server.directory + "/" + folder)
    }

    private static func keepHouse(_ server: TestServer) async {
        await Housekeeping(store: server.store, logger: server.store.logger).keepHouse(collecting: true)
    }

    private static func begin(_ server: TestServer, _ bytes: [UInt8]) async throws -> RawMessage {
        try await server.send("PUT /1/chunked_upload", body: bytes)
    }

    @Test("an editor who announces more than may ever be stored has nobody else refused while that is found out")
    func hopeless() {
        let underWay = BytesUnderWay()
        let hopeless = underWay.hold(8 << 30, of: 1, quota: Self.quota)
        let honest = underWay.hold(100_000, of: 2, quota: Self.quota)
        #expect(hopeless.ofMember == 8 << 30)
        #expect(honest.ofMember == 100_000 && honest.ofAll == Self.quota + 100_000)
        #expect(underWay.hold(1, of: 3, quota: nil).ofAll == (8 << 30) + 100_001)
        withExtendedLifetime((hopeless, honest)) {}
    }

    @Test(
        "an editor who finishes no upload takes no more of the disk than the quota, and two days later has it all back")
    func uploads() async throws {
        let clock = Clock()
        try await TestServer.run(clock: clock, history: Self.limited) { server in
            var statuses: [Int] = []
            for number in 0..<16 {
                let bytes = noise(300_000, seed: UInt64(number))
                statuses.append(try await Self.begin(server, bytes).status)
            }
            #expect(statuses == [200, 200, 200] + Array(repeating: 507, count: 13))
            #expect(try Self.size(server, "staging") == 900_000)
            let text = try await Self.begin(server, noise(300_000)).refusal()
            #expect(text.contains("quota of 1000000 bytes"))
            clock.advance(48 * 3600)
            await Self.keepHouse(server)
            clock.advance(48 * 3600)
            await Self.keepHouse(server)
            #expect(try Self.size(server, "staging") == 0)
            #expect(try await Self.begin(server, noise(999_999)).status == 200)
        }
    }

    @Test("many requests at once take no more of the disk than one after the other")
    func atOnce() async throws {
        try await TestServer.run(history: Self.limited) { server in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<12 {
                    group.addTask { try await Self.begin(server, noise(400_000, seed: UInt64(number))).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } <= 2 && statuses.allSatisfy { $0 == 200 || $0 == 507 })
            #expect(try Self.size(server, "staging") <= Self.quota)
        }
    }

    @Test("a body that is cut off leaves nothing behind that nobody counts")
    func cutOff() async throws {
        try await TestServer.run(history: Self.limited) { server in
            for number in 0..<5 {
                await BackgroundThread.run {
                    guard let connection = RawConnection(port: server.port) else { return }
                    let head =
                        "PUT /1/chunked_upload HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\nContent-Length: 900000\r\n\r\n"
                    connection.send(Array(head.utf8) + noise(800_000, seed: UInt64(number)))
                }
                try await eventually("the cut-off body is gone") {
                    try server.log.all.count { $0.contains("/1/chunked_upload") } > number
                        && Self.size(server, "staging") == 0
                }
            }
            #expect(try await Self.begin(server, noise(900_000)).status == 200)
        }
    }

    @Test("an editor's chunks that no write names take no more of the disk than the quota, and a day later it is back")
    func chunks() async throws {
        try await TestServer.run(history: Self.limited) { server in
            func send(_ bytes: [UInt8]) async throws -> Int {
                try await server.send("PUT /1/sync/chunks/\(ContentHasher.hash(bytes))", body: bytes).status
            }
            var statuses: [Int] = []
            for number in 0..<16 { statuses.append(try await send(noise(300_000, seed: UInt64(number)))) }
            #expect(statuses == [204, 204, 204] + Array(repeating: 507, count: 13))
            #expect(try Self.size(server, "chunks") == 900_000)
            // Uploads in pieces, and other members, see what is left.
            #expect(try await Self.begin(server, noise(200_000)).status == 507)
            let other = try await server.add("Ben", .editor)
            let theirs = noise(900_000, seed: 99)
            let answer = try await server.send(
                "PUT /1/sync/chunks/\(ContentHasher.hash(theirs))", [other], body: theirs)
            #expect(answer.status == 204)
            try Self.age(server, by: Int(WaitingTime.chunk) + 5)
            await Self.keepHouse(server)
            #expect(try Self.size(server, "chunks") == 0)
            #expect(try await send(noise(900_000, seed: 50)) == 204)
        }
    }

    /// Makes all chunks so many seconds older.
    private static func age(_ server: TestServer, by seconds: Int) throws {
        let past = timespec(tv_sec: time(nil) - seconds, tv_nsec: 0)
        for path in try FileSizes.files(server.directory + "/chunks") {
            #expect(unsafe utimensat(AT_FDCWD, path, [past, past], 0) == 0)
        }
    }

    @Test("a file that chunks make counts once, and its chunks are gone with the write that names them")
    func named() async throws {
        try await TestServer.run(history: Self.limited) { server in
            let parts = [noise(300_000, seed: 1), noise(300_000, seed: 2)]
            let whole = parts.flatMap(\.self)
            let content = SyncOperation.Content(
                bytes: Int64(whole.count), hash: ContentHasher.hash(whole), chunks: parts.map { ContentHasher.hash($0) }
            )
            for (name, sent, status, left) in [("a", [204, 204], 200, 0), ("b", [204, 507], 424, 300_000)] {
                var statuses: [Int] = []
                for part in parts {
                    let target = "PUT /1/sync/chunks/\(ContentHasher.hash(part))"
                    statuses.append(try await server.send(target, body: part).status)
                }
                #expect(statuses == sent)
                let operation = SyncOperation(
                    try #require(OperationID(name)), .create(.init(.node(.root), name), content))
                var json = JSONText()
                SyncBatch([operation]).write(to: &json)
                let answer = try await server.send("POST /1/sync/batch", body: json.bytes + [10])
                #expect(answer.status == 200 && answer.text.contains("\"status\":\(status)"), "\(answer.text)")
                #expect(try Self.size(server, "chunks") == Int64(left))
            }
            #expect(try await server.store.usage(of: server.member.uid).used == 600_000)
            #expect(try await Verifier(directory: server.directory).run().isClean)
        }
    }

    @Test("who begins uploads without end has a hundred, and the one that goes on is none of those given up")
    func manyUploads() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let kept = try await store.beginUpload(member: 1)
        for _ in 0..<60 { _ = try await store.beginUpload(member: 1) }
        let other = try await store.beginUpload(member: 2)
        fixture.seconds.advance(10)
        let writer = try await store.appendToUpload(kept.uploadID, member: 1, at: 0)
        try await writer.write([1, 2, 3])
        _ = try await writer.finish()
        for _ in 0..<130 {
            fixture.seconds.advance(1)
            _ = try await store.beginUpload(member: 1)
        }
        #expect(try await store.upload(kept.uploadID, member: 1).offset == 3)
        #expect(fixture.staged.count == 101)
        #expect(try await store.upload(other.uploadID, member: 2).offset == 0)
    }

    @Test("a client that was killed often finds room again an hour later, and one that still sends keeps its upload")
    func killedOften() async throws {
        let clock = Clock()
        try await TestServer.run(clock: clock, history: Self.limited) { server in
            let first: ChunkedUpload = try await Self.begin(server, noise(400_000, seed: 1)).decoded()
            #expect(try await Self.begin(server, noise(400_000, seed: 2)).status == 200)
            #expect(try await Self.begin(server, noise(400_000, seed: 3)).status == 507)
            clock.advance(WaitingTime.idle - 10)
            let more = try await server.send(
                "PUT /1/chunked_upload?upload_id=\(first.uploadID)&offset=400000", body: [1])
            #expect(more.status == 200)
            clock.advance(20)
            #expect(try await Self.begin(server, noise(400_000, seed: 3)).status == 200)
            #expect(try await server.store.upload(first.uploadID, member: server.member.uid).offset == 400_001)
            #expect(try Self.size(server, "staging") == 800_001)
        }
    }

    @Test("a server that is killed and started again counts what waits as before, from what is there")
    func restart() async throws {
        let directory = try TemporaryDirectory()
        let clock = Clock()
        var store = try StoreFixture.open(directory.path, Self.limited, clock: clock)
        let upload = try await store.beginUpload(member: 1)
        let writer = try await store.appendToUpload(upload.uploadID, member: 1, at: 0)
        try await writer.write(noise(300_000))
        _ = try await writer.finish()
        let chunk = noise(300_000, seed: 2)
        try await store.chunks.add(chunk, hash: ContentHasher.hash(chunk), from: 1)
        let held = try await store.hold(390_000, for: 1)
        await #expect(throws: StorageError.overMemberQuota(Self.quota, of: 1)) { try await store.hold(20_000, for: 1) }
        try store.close()
        store = try StoreFixture.open(directory.path, mode: .administration, Self.limited, clock: clock)
        await #expect(throws: StorageError.overMemberQuota(Self.quota, of: 1)) { try await store.hold(400_001, for: 1) }
        #expect(try await store.hold(400_000, for: 1) != nil)
        #expect(try await Verifier(directory: directory.path).run().findings == [])
        _ = held
    }
}

/// The files below a folder.
enum FileSizes {
    /// Their paths.
    static func files(_ folder: String) throws -> [String] {
        try Directory.names(in: folder).flatMap { name in
            let path = folder + "/" + name
            return Directory.fileLength(path) == nil ? try files(path) : [path]
        }
    }

    /// Their bytes.
    static func sum(_ folder: String) throws -> Int64 {
        try files(folder).reduce(0) { $0 + (Directory.fileLength($1) ?? 0) }
    }
}

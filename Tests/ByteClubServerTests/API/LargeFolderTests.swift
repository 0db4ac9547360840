import ByteClubCore
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

/// `BYTECLUB_ENTRIES` says how many files the folder holds.
@Suite("Large folders under /1/sync") struct LargeFolderTests {
    private static let count = unsafe getenv("BYTECLUB_ENTRIES").flatMap { unsafe Int(String(cString: $0)) } ?? 10_000

    private static func send(_ operations: [SyncOperation], to server: TestServer) async throws -> SyncOutcome {
        var json = JSONText()
        SyncBatch(operations).write(to: &json)
        return try await server.send("POST /1/sync/batch", body: json.bytes + [10]).decoded(SyncOutcome.self)
    }

    private static func id(_ text: String) throws -> OperationID { try #require(OperationID(text)) }

    /// Makes a folder of folders of files, and tells its identity.
    private static func fill(_ server: TestServer) async throws -> NodeID {
        let folders = (count + 999) / 1000
        let made = try await send(
            [SyncOperation(try id("root"), .create(.init(.node(.root), "Old"), nil))]
                + (0..<folders).map { SyncOperation(try id("f\($0)"), .create(.init(.operation(0), "f\($0)"), nil)) },
            to: server)
        let nodes = try made.results.map { try #require($0.entry).node }
        for folder in 0..<folders {
            let files = try (folder * 1000..<min(count, folder * 1000 + 1000)).map { number in
                SyncOperation(
                    try id("n\(number)"), .create(.init(.node(nodes[folder + 1]), "note \(number).md"), .init(bytes: 0))
                )
            }
            let outcome = try await send(files, to: server)
            #expect(outcome.results.allSatisfy { $0.isDone })
        }
        return nodes[0]
    }

    @Test("a folder of very many files is renamed and deleted in one request")
    func manyFiles() async throws {
        try await TestServer.run { server in
            let node = try await Self.fill(server)
            let before = try await server.get("/1/sync/digest?path=/Old").decoded(SyncDigest.self)
            let clock = ContinuousClock()
            func done(_ name: String, _ action: SyncOperation.Action, seen: Int64? = nil) async throws -> SyncResult {
                let start = clock.now
                let outcome = try await Self.send(
                    [SyncOperation(try Self.id(name), action, if: .init(seen: seen))], to: server)
                print("\(name) with \(Self.count) files: \(clock.now - start), journal at \(outcome.sequence)")
                return try #require(outcome.results.first)
            }
            let moved = try await done("move", .move(node, .init(.node(.root), "New")))
            #expect(moved.status == 200 && moved.entry?.name == "New")
            let cased = try await done("rename", .move(node, .init(.node(.root), "NEW")))
            #expect(cased.status == 200 && cased.entry?.name == "NEW")
            let back = try await done("move-back", .move(node, .init(.node(.root), "Old")))
            #expect(back.status == 200)
            let after = try await server.get("/1/sync/digest?path=/old").decoded(SyncDigest.self)
            #expect(after.digest == before.digest && after.node == node)
            let early = try await done("refused-delete", .delete(node), seen: 1)
            #expect(early.status == 412)
            let gone = try await done("delete", .delete(node), seen: back.entry?.sequence)
            #expect(gone.status == 200 && gone.entry?.isDeleted == true)
            let empty = try await server.get("/1/sync/digest?path=/").decoded(SyncDigest.self)
            #expect(empty.folders.isEmpty)
        }
    }
}

import ByteClubCore
import Logging
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("A server whose store has no files")
struct MemoryServerTests {
    /// One member's calls.
    private struct Caller: Sendable {
        let port: UInt16
        let token: String

        func send(_ line: String, _ fields: [String] = [], body: [UInt8] = []) async throws -> RawMessage {
            let all = ["Authorization: Bearer \(token)", "Content-Length: \(body.count)"] + fields
            return try #require(await RawExchange.send(line, fields: all, body: body, port: port), "no answer")
        }
    }

    private static func run(_ body: @escaping @Sendable (Caller) async throws -> Void) async throws {
        let folder = try TemporaryDirectory()
        let address = try #require(ListenAddress("127.0.0.1:0"))
        let configuration = ClubConfiguration(address: address, directory: folder.path)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let store = MemoryStore(now: { APIDate(seconds: SystemTime.seconds()) })
        let token = try await store.addMember(name: "Ann", role: nil, oauth1: false).token
        try await TestServer.serve(store, configuration, logger) { port, _, _ in
            try await body(Caller(port: port, token: token))
        }
        withExtendedLifetime(folder) {}
    }

    @Test("it sends a photo, its parts, its thumbnail, and what it says of itself")
    func photo() async throws {
        try await Self.run { caller in
            let photo = Fixture.bytes("panoramas/city.jpg")
            #expect(photo.count > StagedContent.inlineLimit)
            #expect(try await caller.send("PUT /1/files_put/auto/p/city.jpg", body: photo).status == 200)
            let whole = try await caller.send("GET /1/files/auto/p/city.jpg")
            #expect(whole.status == 200 && Array(whole.body) == photo)
            let part = try await caller.send("GET /1/files/auto/p/city.jpg", ["Range: bytes=70000-70999"])
            #expect(part.status == 206 && Array(part.body) == Array(photo[70_000..<71_000]))
            let small = try await caller.send("GET /1/thumbnails/auto/p/city.jpg?size=m")
            #expect(small.status == 200 && Array(small.body.prefix(2)) == [0xFF, 0xD8])
            let dated = Fixture.bytes("panoramas/dated.jpg")
            #expect(try await caller.send("PUT /1/files_put/auto/p/dated.jpg", body: dated).status == 200)
            let told = try await caller.send("GET /1/metadata/auto/p?include_media_info=true")
            #expect(told.text.contains("05 Aug 2013 16:40:12"))
        }
    }

    @Test("it takes uploads in pieces and batches, and tells them in the journal")
    func changes() async throws {
        try await Self.run { caller in
            let bytes = noise(200_000)
            let first: ChunkedUpload = try await caller.send("PUT /1/chunked_upload", body: Array(bytes[..<150_000]))
                .decoded()
            let next = "PUT /1/chunked_upload?upload_id=\(first.uploadID)&offset=150000"
            #expect(try await caller.send(next, body: Array(bytes[150_000...])).status == 200)
            let commit = "POST /1/commit_chunked_upload/auto/large.bin?upload_id=\(first.uploadID)"
            #expect(try await caller.send(commit).status == 200)
            let operation = SyncOperation(
                try #require(OperationID("one")), .create(.init(.node(.root), "n.md"), .init(bytes: 3)))
            var json = JSONText()
            SyncBatch([operation]).write(to: &json)
            let outcome = try await caller.send("POST /1/sync/batch", body: json.bytes + [10] + Array("abc".utf8))
            #expect(outcome.status == 200)
            let page = try await caller.send("GET /1/sync/changes")
            #expect(page.text.contains("large.bin") && page.text.contains("n.md") && page.text.hasSuffix("abc"))
        }
    }
}

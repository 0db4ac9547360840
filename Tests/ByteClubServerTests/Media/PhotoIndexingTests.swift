import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

/// What is found out of new photos behind those who send them.
@Suite struct PhotoIndexingTests {
    @Test("what a library of new photos is becomes known in few transactions, since each waits for the disk")
    func library() async throws {
        try await TestServer.run { server in
            let photo = Fixture.bytes("panoramas/portrait.jpg")
            // Bytes after the end of a JPEG make it another file, and no other picture.
            let photos = (0..<40).map { photo + [UInt8($0)] }
            for (number, bytes) in photos.enumerated() {
                let sent = try await server.send("PUT /1/files_put/auto/\(number).jpg", body: bytes)
                #expect(sent.status == 200)
            }
            let hashes = photos.map { ContentHasher.hash($0) }
            let before = server.store.statistics.commits.time.count
            let indexing = Task { try await server.club.photoIndexing.run() }
            try await eventually("all photos are known") {
                try await server.store.mediaInfo(of: hashes).count == hashes.count
            }
            indexing.cancel()
            _ = await indexing.result
            #expect(server.store.statistics.commits.time.count - before <= 2)
        }
    }
}

import ByteClubCore
import GRDB
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
            // Two lots: what is known of each, and then its placeholders.
            #expect(server.store.statistics.commits.time.count - before <= 4)
        }
    }

    @Test("a renamed folder's photos are not looked at again, and nothing is until something changes")
    func renamed() async throws {
        try await TestServer.run { server in
            let photo = Fixture.bytes("panoramas/portrait.jpg")
            #expect(try await server.send("PUT /1/files_put/auto/old/1.jpg", body: photo).status == 200)
            let indexing = Task { try await server.club.photoIndexing.run() }
            try await eventually("the photo is known") {
                try await server.store.mediaInfo(of: [ContentHasher.hash(photo)]).count == 1
            }
            let statements = LogLines()
            let reads = {
                statements.all.count { $0.contains("JOIN node n") && $0.contains("ORDER BY v.revision") }
            }
            try await eventually("a connection that is looked at reads the journal") {
                try await server.store.pool.read { database in database.trace { statements.add($0.description) } }
                let text = Array("\(ContinuousClock.now)".utf8)
                #expect(try await server.send("PUT /1/files_put/auto/note.md", body: text).status == 200)
                // It waits until nobody has written for a moment.
                try await Task.sleep(for: .seconds(1))
                return reads() > 0
            }
            let before = reads()
            let move = "POST /1/fileops/move?root=auto&from_path=/old&to_path=/new"
            #expect(try await server.send(move).status == 200)
            for _ in 0..<40 {
                #expect(try await server.send("GET /1/account/info").status == 200)
                try await Task.sleep(for: .milliseconds(50))
            }
            indexing.cancel()
            _ = await indexing.result
            #expect(reads() - before <= 4, "\(reads() - before) reads of the journal")
        }
    }

    @Test("a photo whose folder was renamed after much else was written is looked at after a start")
    func renamedBefore() async throws {
        try await TestServer.run { server in
            let photo = Fixture.bytes("panoramas/portrait.jpg")
            #expect(try await server.send("PUT /1/files_put/auto/old/1.jpg", body: photo).status == 200)
            for number in 0..<250 {
                #expect(try await server.send("PUT /1/files_put/auto/\(number).md", body: [1]).status == 200)
            }
            let move = "POST /1/fileops/move?root=auto&from_path=/old&to_path=/new"
            #expect(try await server.send(move).status == 200)
            let indexing = Task { try await server.club.photoIndexing.run() }
            try await eventually("the photo is known") {
                try await server.store.mediaInfo(of: [ContentHasher.hash(photo)]).count == 1
            }
            indexing.cancel()
            _ = await indexing.result
        }
    }
}

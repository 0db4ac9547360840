import ByteClubCore
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Large contents of a batch: uploads, and edits of what is there") struct UploadedContentTests {
    private static let photo = noise(5 << 20, seed: 1)

    /// Sends bytes as an upload in two pieces, and tells its name.
    private static func upload(
        _ bytes: [UInt8], _ server: TestServer, by bearer: String? = nil
    ) async throws -> String {
        let fields = [bearer ?? server.bearer]
        let half = bytes.count / 2
        let first = try await server.send("PUT /1/chunked_upload", fields, body: Array(bytes[..<half]))
            .decoded(ChunkedUpload.self)
        let target = "PUT /1/chunked_upload?upload_id=\(first.uploadID)&offset=\(half)"
        let second = try await server.send(target, fields, body: Array(bytes[half...])).decoded(ChunkedUpload.self)
        #expect(second.offset == Int64(bytes.count))
        return first.uploadID
    }

    private static func operation(
        _ number: Int, _ content: SyncOperation.Content, at place: SyncOperation.Place = .init(.node(.root), "a.jpg")
    ) throws -> SyncOperation {
        SyncOperation(try #require(OperationID("u-\(number)")), .create(place, content))
    }

    private static func content(_ bytes: [UInt8], upload: String) -> SyncOperation.Content {
        .init(bytes: Int64(bytes.count), hash: ContentHasher.hash(bytes), upload: upload)
    }

    private static func apply(
        _ operations: [SyncOperation], _ server: TestServer, isAllOrNothing: Bool = true
    ) async throws -> RawMessage {
        var json = JSONText()
        SyncBatch(operations, isAllOrNothing: isAllOrNothing).write(to: &json)
        return try await server.send("POST /1/sync/batch", body: json.bytes + [10])
    }

    private static func result(_ operation: SyncOperation, _ server: TestServer) async throws -> SyncResult {
        try #require(try await apply([operation], server).decoded(SyncOutcome.self).results.first)
    }

    @Test("the file that an upload was written to is the content's, and the batch that is sent again answers the same")
    func inPlace() async throws {
        try await TestServer.run { server in
            let id = try await Self.upload(Self.photo, server)
            let files = try FileBlobStore(directory: server.directory)
            let written = server.directory + "/written"
            #expect(unsafe link(files.uploadPath(id), written) == 0)
            let operation = try Self.operation(1, Self.content(Self.photo, upload: id))
            let first = try await Self.result(operation, server)
            #expect(first.isDone)
            #expect(Directory.isSame(files.path(of: ContentHasher.hash(Self.photo)), written))
            #expect(try await Self.result(operation, server) == first)
            #expect(try await server.get("/1/files/auto/a.jpg").body == Self.photo)
            #expect(try FileSizes.sum(server.directory + "/staging") == 0)
        }
    }

    @Test("an upload that a refused write has named stays, and is stored by a later one")
    func refused() async throws {
        try await TestServer.run { server in
            try await server.store("/a.jpg", "taken")
            let id = try await Self.upload(Self.photo, server)
            let content = Self.content(Self.photo, upload: id)
            #expect(try await Self.result(Self.operation(1, content), server).status == 409)
            let other = try await Self.result(Self.operation(2, content, at: .init(.node(.root), "b.jpg")), server)
            #expect(other.isDone)
            #expect(try await server.get("/1/files/auto/b.jpg").body == Self.photo)
        }
    }

    @Test("an upload of somebody else's, of other bytes or that nobody knows makes no content")
    func strangers() async throws {
        try await TestServer.run { server in
            let ben = try await server.store.addMember(name: "Ben", role: .editor, oauth1: false)
            let foreign = try await Self.upload(Self.photo, server, by: "Authorization: Bearer \(ben.token)")
            let own = try await Self.upload(Self.photo, server)
            var (longer, another) = (Self.content(Self.photo, upload: own), Self.content(Self.photo, upload: own))
            longer.bytes += 1
            another.hash = ContentHasher.hash([1])
            let wrong = [
                Self.content(Self.photo, upload: foreign), Self.content(Self.photo, upload: "none"), longer, another,
            ]
            for (number, content) in wrong.enumerated() {
                #expect(try await Self.result(Self.operation(number, content), server).status == 424)
            }
            #expect(try await server.get("/1/metadata/auto/a.jpg").status == 404)
            #expect(try await Self.result(Self.operation(9, Self.content(Self.photo, upload: own)), server).isDone)
        }
    }

    @Test("a batch stores one upload, as a whole or not at all, and no content is both chunks and an upload")
    func form() async throws {
        try await TestServer.run { server in
            let content = Self.content(Self.photo, upload: try await Self.upload(Self.photo, server))
            let one = try Self.operation(1, content)
            let two = try Self.operation(2, content, at: .init(.node(.root), "b.jpg"))
            var both = content
            both.chunks = [ContentHasher.hash([1])]
            #expect(try await Self.apply([one], server, isAllOrNothing: false).status == 400)
            #expect(try await Self.apply([one, two], server).status == 400)
            #expect(try await Self.apply([Self.operation(3, both)], server).status == 400)
            #expect(try await Self.result(one, server).isDone)
        }
    }

    /// A photo on the server whose chunk files are all gone, and an edit of its middle.
    private struct Edited {
        let server: TestServer
        let edited: [UInt8]
        let chunks: [ContentChunk]
        let base: ChunkQuestion.Base

        init(_ server: TestServer) async throws {
            self.server = server
            // No part is like another, so that cuts come where they would in a film.
            var random = SeededGenerator(seed: 2)
            var photo = (0..<(12 << 17)).flatMap { _ in unsafe withUnsafeBytes(of: random.next()) { unsafe Array($0) } }
            let id = try await upload(photo, server)
            let made = try await UploadedContentTests.result(operation(1, content(photo, upload: id)), server)
            let entry = try #require(made.entry)
            base = ChunkQuestion.Base(entry.node, entry.revision)
            photo.replaceSubrange(5 << 20..<5 << 20, with: noise(1_000, seed: 3))
            edited = photo
            var chunker = ContentChunker()
            chunks = chunker.take(photo) + chunker.finish()
        }

        func missing(_ base: ChunkQuestion.Base?) async throws -> Set<ContentHash> {
            var json = JSONText()
            ChunkQuestion(chunks.map(\.hash), base: base).write(to: &json)
            return Set(
                try await server.send("POST /1/sync/chunks/need", body: json.bytes).decoded(ChunkList.self).hashes)
        }

        func send(_ hashes: Set<ContentHash>) async throws {
            for chunk in chunks where hashes.contains(chunk.hash) {
                let bytes = Array(edited[Int(chunk.offset)..<Int(chunk.offset) + chunk.size])
                #expect(try await server.send("PUT /1/sync/chunks/\(chunk.hash)", body: bytes).status == 204)
            }
        }

        func edit(_ number: Int) async throws -> SyncResult {
            let content = SyncOperation.Content(
                bytes: Int64(edited.count), hash: ContentHasher.hash(edited), chunks: chunks.map(\.hash))
            return try await result(
                SyncOperation(
                    try #require(OperationID("e-\(number)")), .edit(base.node, content),
                    if: .init(revision: base.revision)), server)
        }
    }

    @Test("of an edit only the chunks are missing that are not in the version that it was made from")
    func edit() async throws {
        try await TestServer.run { server in
            let photo = try await Edited(server)
            #expect(try await photo.missing(nil).count == Set(photo.chunks.map(\.hash)).count)
            let missing = try await photo.missing(photo.base)
            #expect((1...3).contains(missing.count) && photo.chunks.count >= 6)
            #expect(try await photo.edit(1).status == 424, "what is missing is not made up")
            try await photo.send(missing)
            #expect(try await photo.edit(2).isDone)
            #expect(try await server.get("/1/files/auto/a.jpg").body == photo.edited)
        }
    }

    @Test("a version that is not there, is a folder's, or another by now has no chunks")
    func noBase() async throws {
        try await TestServer.run { server in
            let photo = try await Edited(server)
            let all = Set(photo.chunks.map(\.hash))
            let (node, revision) = (photo.base.node, photo.base.revision)
            for (node, revision) in [
                (node, revision + 1), (node, -1), (.root, revision), (NodeID(9_999), revision),
                (NodeID(.max), .max), (NodeID(-1), .min),
            ] {
                #expect(try await photo.missing(ChunkQuestion.Base(node, revision)) == all)
            }
            #expect(try await server.post("/1/fileops/delete", "root=auto&path=/a.jpg").status == 200)
            #expect(try await photo.missing(photo.base) == all)
        }
    }

    @Test("an edit is refused when the server has forgotten where the chunks are, and done when it is asked again")
    func forgotten() async throws {
        try await TestServer.run { server in
            let photo = try await Edited(server)
            try await photo.send(try await photo.missing(photo.base))
            // The server remembers few contents.
            for number in 0..<8 {
                let bytes = noise(100_000, seed: UInt64(10 + number))
                let id = try await Self.upload(bytes, server)
                let place = SyncOperation.Place(.node(.root), "other\(number).jpg")
                let made = try await Self.result(
                    Self.operation(10 + number, Self.content(bytes, upload: id), at: place), server)
                let entry = try #require(made.entry)
                _ = try await photo.missing(ChunkQuestion.Base(entry.node, entry.revision))
            }
            #expect(try await photo.edit(1).status == 424)
            #expect(try await photo.missing(photo.base).isEmpty)
            #expect(try await photo.edit(2).isDone)
            #expect(try await server.get("/1/files/auto/a.jpg").body == photo.edited)
        }
    }
}

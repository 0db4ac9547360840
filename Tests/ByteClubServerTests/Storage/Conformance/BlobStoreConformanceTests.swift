import ByteClubCore
import NIOCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Every store of blobs keeps to the same rules")
struct BlobStoreConformanceTests {
    /// The stores of blobs that there are.
    enum Tested: CaseIterable, Sendable {
        case files, memory

        func run(_ body: (any BlobStore) async throws -> Void) async throws {
            let directory = try TemporaryDirectory()
            try await body(self == .files ? try FileBlobStore(directory: directory.path) : MemoryBlobStore())
            withExtendedLifetime(directory) {}
        }
    }

    private static func stage(_ bytes: [UInt8], in store: any BlobStore) async throws -> StagedContent {
        let writer = try await store.writer()
        try await writer.write(bytes)
        return try await writer.finish()
    }

    private static func publish(_ contents: [StagedContent], in store: any BlobStore) throws -> any BlobPublication {
        var publication = store.publication()
        for content in contents {
            guard case .blob(let blob) = content.place else { continue }
            try publication.publish(blob, as: content.hash, length: content.bytes)
        }
        try publication.sync()
        return publication
    }

    @Test("small content waits in memory, large content in the store", arguments: Tested.allCases)
    func places(_ tested: Tested) async throws {
        try await tested.run { store in
            for (count, isSmall) in [(0, true), (65_536, true), (65_537, false), (1_000_000, false)] {
                let bytes = randomBytes(count, seed: 1)
                let content = try await Self.stage(bytes, in: store)
                #expect(content.hash == ContentHasher.hash(bytes) && content.bytes == Int64(count))
                if case .inline(let kept) = content.place {
                    #expect(isSmall && kept == bytes)
                } else {
                    #expect(!isSmall)
                }
                #expect(!store.has(content.hash, length: content.bytes), "it is not published yet")
            }
        }
    }

    @Test("a published content is found, listed, read and removed", arguments: Tested.allCases)
    func publishes(_ tested: Tested) async throws {
        try await tested.run { store in
            let bytes = randomBytes(200_000, seed: 2)
            let content = try await Self.stage(bytes, in: store)
            _ = try Self.publish([content], in: store)
            #expect(store.has(content.hash, length: 200_000) && !store.has(content.hash, length: 199_999))
            let first = try #require(content.hash.bytes.first)
            #expect(try await store.contents(beginning: first) == [content.hash])
            #expect(try await store.contents(beginning: first &+ 1) == [])
            let reader = try store.blob(content.hash, length: 200_000).open()
            store.remove(content.hash)
            store.remove(content.hash)
            let part = try await reader.read(at: 100, count: 100_000)
            #expect(Array(part.readableBytesView) == Array(bytes[100..<100_100]), "who reads is not disturbed")
            #expect(throws: StorageError.self) { try store.blob(content.hash, length: 200_000).open() }
        }
    }

    @Test(
        "a publication that is undone takes its own away, and what was there before stays", arguments: Tested.allCases)
    func undoes(_ tested: Tested) async throws {
        try await tested.run { store in
            let (one, two) = (randomBytes(100_000, seed: 1), randomBytes(100_000, seed: 2))
            let known = try await Self.stage(one, in: store)
            _ = try Self.publish([known], in: store)
            let contents = [try await Self.stage(one, in: store), try await Self.stage(two, in: store)]
            var publication = try Self.publish(contents, in: store)
            publication.undo()
            #expect(store.has(known.hash, length: 100_000))
            #expect(!store.has(contents[1].hash, length: 100_000))
            _ = try Self.publish([contents[1]], in: store)
            let reader = try store.blob(contents[1].hash, length: 100_000).open()
            #expect(Array(try await reader.read(at: 0, count: 100_000).readableBytesView) == two)
        }
    }

    @Test("a store refuses what another has staged", arguments: Tested.allCases)
    func strangers(_ tested: Tested) async throws {
        try await tested.run { store in
            let other: Tested = tested == .files ? .memory : .files
            try await other.run { stranger in
                let content = try await Self.stage(randomBytes(100_000, seed: 1), in: stranger)
                #expect(throws: StorageError.self) { try Self.publish([content], in: store) }
                #expect(!store.has(content.hash, length: content.bytes))
            }
        }
    }
}

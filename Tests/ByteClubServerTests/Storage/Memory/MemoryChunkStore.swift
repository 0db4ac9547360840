import ByteClubCore
import NIOCore
import Synchronization

@testable import ByteClubServer

/// Chunks in memory.
final class MemoryChunkStore: ChunkStore {
    private struct Chunk {
        let bytes: [UInt8]
        var touched: Int64
    }

    private let chunks = Mutex<[Int64: [ContentHash: Chunk]]>([:])
    private let now: @Sendable () -> APIDate

    /// Counts time by a clock.
    init(now: @escaping @Sendable () -> APIDate) {
        self.now = now
    }

    func missing(of hashes: [ContentHash], from member: Int64) async throws -> [ContentHash] {
        let now = now().seconds
        return chunks.withLock { chunks in
            hashes.filter { hash in
                chunks[member]?[hash]?.touched = now
                return chunks[member]?[hash] == nil
            }
        }
    }

    func add(_ bytes: [UInt8], hash: ContentHash, from member: Int64) async throws {
        let chunk = Chunk(bytes: bytes, touched: now().seconds)
        chunks.withLock { $0[member, default: [:]][hash] = chunk }
    }

    func keep(_ contents: [StagedContent], from member: Int64) async throws {
        for content in contents {
            switch content.place {
            case .inline(let bytes): try await add(bytes, hash: content.hash, from: member)
            case .blob(let blob):
                guard let blob = blob as? MemoryBlob else {
                    throw StorageError(.io, "a chunk was staged by another store than the one that is to keep it")
                }
                let bytes = try await blob.read(at: 0, count: Int(content.bytes))
                try await add(Array(bytes.readableBytesView), hash: content.hash, from: member)
            }
        }
    }

    func content(_ hash: ContentHash, from member: Int64) async throws -> StagedContent? { nil }

    func chunk(_ hash: ContentHash, from member: Int64) async throws -> [UInt8]? {
        chunks.withLock { $0[member]?[hash]?.bytes }
    }

    func lengths(of hashes: [ContentHash], from member: Int64) async throws -> [Int64?] {
        chunks.withLock { chunks in hashes.map { (chunks[member]?[$0]?.bytes.count).map(Int64.init) } }
    }

    func weight(_ bytes: Int64) -> Int64 { bytes }

    func waitingBytes() async throws -> [Int64: Int64] {
        chunks.withLock { $0.mapValues { $0.values.reduce(0) { $0 + Int64($1.bytes.count) } } }
    }

    // There is no disk that could be full.
    func release(_: [ContentHash], from _: Int64) async throws {}

    func remove(_ hashes: [ContentHash], from member: Int64) async throws {
        chunks.withLock { for hash in hashes { $0[member]?[hash] = nil } }
    }

    func giveUp(_ bytes: Int64, from member: Int64) async throws -> Int64 {
        let oldest = now().seconds - WaitingTime.idle
        return chunks.withLock { chunks in
            let idle = (chunks[member] ?? [:]).filter { $0.value.touched < oldest }
            var freed: Int64 = 0
            for (hash, chunk) in idle.sorted(by: { $0.value.touched < $1.value.touched }) where freed < bytes {
                chunks[member]?[hash] = nil
                freed += Int64(chunk.bytes.count)
            }
            return freed
        }
    }

    func removeExpired() async throws {
        let oldest = now().seconds - WaitingTime.chunk
        chunks.withLock { chunks in chunks = chunks.mapValues { $0.filter { $0.value.touched >= oldest } } }
    }
}

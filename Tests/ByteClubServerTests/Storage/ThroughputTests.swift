import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("How fast the storage is", .serialized)
struct ThroughputTests {
    @Test("10,000 notes of 1.5 KiB from 32 writers are all there; prints the rates of writes, reads and delta pages")
    func notes() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let clock = ContinuousClock()
        let paths = try (0..<10_000).map { try RemotePath("/notes/d\($0 / 100)/n\($0).md") }
        let bodies = (0..<10_000).map { randomBytes(1500, seed: UInt64($0)) }
        let elapsed = try await clock.measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<32 {
                    group.addTask {
                        for number in stride(from: worker, to: 10_000, by: 32) {
                            guard let content = StagedContent(inline: bodies[number]) else { continue }
                            let path = paths[number]
                            _ = try await store.write(by: 1, storing: content) {
                                try $0.put(
                                    path, bytes: content.bytes, hash: content.hash, condition: .overwrite,
                                    policy: .fail)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        print(
            "32 writers: \(Int(10_000 / (elapsed / .seconds(1)))) writes/s in \(store.statistics.commits.time.count) commits"
        )
        let single = try await clock.measure {
            for number in 0..<500 { try await fixture.put("/single/n\(number)", Array("\(number)".utf8)) }
        }
        print("1 writer: \(Int(500 / (single / .seconds(1)))) writes/s")

        var samples: [Duration] = []
        for number in 0..<2000 {
            let path = paths[(number * 37) % paths.count]
            samples.append(
                try await clock.measure { _ = try await store.read { try $0.file(path, revision: nil) } })
        }
        samples.sort()
        print("read p50 \(samples[1000]), p99 \(samples[1980])")
        let start = DeltaCursor(epoch: store.epoch, member: 1)
        let page = try await clock.measure {
            let (page, _) = try await store.read { try $0.delta(after: nil, start: start, limit: 2000) }
            #expect(page.entries.count == 2000)
        }
        print("delta page of 2,000: \(page)")
        let live = try await store.read { try $0.state.descendants(.root, limit: .max).filter { !$0.isFolder }.count }
        #expect(live == 10_500)
    }

    @Test("A photo of 128 MiB comes back whole; prints its rate beside that of hashing alone")
    func photo() async throws {
        let fixture = try StoreFixture()
        let clock = ContinuousClock()
        let block = randomBytes(1 << 20, seed: 1)
        var hasher = ContentHasher()
        let hashing = clock.measure { for _ in 0..<128 { hasher.update(block) } }
        let expected = hasher.finalize()
        let writer = try await fixture.store.blobs.writer()
        var content: StagedContent?
        let elapsed = try await clock.measure {
            for _ in 0..<128 { try await writer.write(block) }
            content = try await writer.finish()
        }
        #expect(content?.hash == expected)
        print(
            "128 MiB: \(Int(128 / (elapsed / .seconds(1)))) MiB/s; hash alone \(Int(128 / (hashing / .seconds(1)))) MiB/s"
        )
    }
}

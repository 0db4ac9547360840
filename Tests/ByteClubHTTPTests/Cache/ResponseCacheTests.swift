import HTTPTypes
import Synchronization
import Testing

@testable import ByteClubHTTP

struct ResponseCacheTests {
    private let fresh = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=1000", .eTag: "\"1\""])

    private func url(_ path: String) throws -> RequestURL { try address("http://e.com/\(path)") }

    private func body(_ cache: ResponseCache, _ path: String, _ fields: HTTPFields = [:]) throws -> [UInt8]? {
        cache.find(try url(path), fields, policy: .protocolRules)?.bytes
    }

    private func cache(_ folder: TemporaryFolder, memory: Int = 1 << 20, disk: Int = 1 << 20) -> ResponseCache {
        ResponseCache(memoryBytes: memory, folder: folder.file("cache"), diskBytes: disk, logger: nil, now: { 1000 })
    }

    @Test("variants are kept side by side, and an answer that must not be kept removes the one before")
    func variants() throws {
        let cache = ResponseCache()
        var varied = fresh
        varied.headerFields[.vary] = "accept"
        for value in ["a", "b"] {
            cache.keep(varied, bytes: Array(value.utf8), for: try url("x"), [.accept: value], asked: wallClock())
        }
        #expect(try body(cache, "x", [.accept: "a"]) == Array("a".utf8))
        #expect(try body(cache, "x", [.accept: "b"]) == Array("b".utf8))
        #expect(try body(cache, "x") == nil && cache.count == 2)
        let never = HTTPResponse(status: .ok, headerFields: [.cacheControl: "no-store"])
        cache.keep(never, bytes: [], for: try url("x"), [.accept: "a"], asked: wallClock())
        #expect(try body(cache, "x", [.accept: "a"]) == nil && cache.count == 1)
        cache.removeAll()
        #expect(cache.count == 0 && cache.size == (0, 0))
    }

    @Test("a write forgets the address and those of its origin that the answer names, if it succeeded")
    func invalidation() throws {
        let cache = ResponseCache()
        for path in ["x", "y", "z"] { cache.keep(fresh, bytes: [1], for: try url(path), [:], asked: wallClock()) }
        func head(_ method: HTTPRequest.Method) throws -> RequestHead {
            try RequestHead(
                HTTPRequest(method: method, scheme: "http", authority: "e.com", path: "/x"), body: .none,
                options: TaskOptions(), additional: [:])
        }
        cache.invalidate(try head(.get), fresh)
        cache.invalidate(try head(.delete), HTTPResponse(status: .notFound))
        #expect(cache.count == 3)
        let named: HTTPFields = [.location: "/y", .contentLocation: "http://other.com/z"]
        cache.invalidate(try head(.post), HTTPResponse(status: .created, headerFields: named))
        #expect(try body(cache, "x") == nil && body(cache, "y") == nil && body(cache, "z") == [1])
    }

    @Test("limits hold, the least recently used go first, and what is too large is not kept")
    func limits() throws {
        let cache = ResponseCache(memoryBytes: 20_000)
        for index in 0..<40 {
            cache.keep(
                fresh, bytes: Array(repeating: 0, count: 1000), for: try url("\(index)"), [:], asked: wallClock())
            #expect(try body(cache, "0") != nil && cache.size.memory <= 20_000)
        }
        #expect(try body(cache, "1") == nil && body(cache, "39") != nil)
        cache.keep(fresh, bytes: Array(repeating: 0, count: 2501), for: try url("large"), [:], asked: wallClock())
        #expect(try body(cache, "large") == nil)
    }

    @Test("the index keeps its sums through random uses")
    func property() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix(state: seed)
        var index = CacheIndex(memoryLimit: 30_000, diskLimit: 50_000)
        for _ in 0..<4000 {
            let url = "http://e.com/\(Int.random(in: 0..<30, using: &random))"
            let id = index.entries.keys.sorted().randomElement(using: &random) ?? 0
            let stored = StoredResponse(url: url, selectors: [], response: fresh, requested: 0, received: 0)
            switch Int.random(in: 0..<9, using: &random) {
            case 0...2:
                let bytes = [UInt8](repeating: 0, count: Int.random(in: 0..<8000, using: &random))
                index.insert(stored, bytes: bytes, maySave: Bool.random(using: &random))
            case 3: for (id, entry) in index.entries where entry.isPending { index.wasWritten(id, successfully: true) }
            case 4: index.wasWritten(id, successfully: false)
            case 5: index.remove(id)
            case 6: index.removeAll(for: url)
            case 7: index.promote(id, bytes: [UInt8](repeating: 0, count: index.entries[id]?.length ?? 0))
            default: index.use(id)
            }
            let all = index.entries.values
            let memory = all.filter { $0.bytes != nil }.reduce(0) { $0 + $1.size }
            let disk = all.filter(\.isOnDisk).reduce(0) { $0 + $1.size }
            let pending = all.filter(\.isPending)
            #expect(index.memoryBytes == memory && index.diskBytes == disk, "seed \(seed)")
            #expect(index.pendingBytes == pending.reduce(0) { $0 + $1.length }, "seed \(seed)")
            #expect(disk <= index.diskLimit && all.allSatisfy { $0.bytes != nil || $0.isOnDisk }, "seed \(seed)")
            #expect(memory <= index.memoryLimit + pending.reduce(0) { $0 + $1.size }, "seed \(seed)")
            for (id, entry) in index.entries {
                #expect(index.candidates(for: entry.stored.url).filter { $0 == id }.count == 1, "seed \(seed)")
            }
        }
    }

    @Test("what is on disk is there again, without what depends on a secret, and not for two at a time")
    func disk() throws {
        let folder = TemporaryFolder()
        do {
            let cache = cache(folder)
            cache.keep(fresh, bytes: [1, 2, 3], for: try url("x"), [:], asked: 1000)
            cache.keep(fresh, bytes: [], for: try url("empty"), [:], asked: 1000)
            cache.keep(fresh, bytes: [9], for: try url("s"), [.authorization: "Bearer hidden-token"], asked: 1000)
            cache.flush()
            #expect(self.cache(folder).folder == nil)
            #expect(try body(cache, "s", [.authorization: "Bearer hidden-token"]) == [9])
        }
        let names = TemporaryFolder.entries(folder.file("cache"))
        #expect(names == ["1.body", "2.body", "index", "lock"])
        for name in names {
            let text = String(decoding: folder.read("cache/\(name)") ?? [], as: UTF8.self)
            #expect(!text.contains("hidden-token"))
        }
        let again = cache(folder)
        #expect(again.count == 2)
        #expect(try body(again, "x") == [1, 2, 3] && body(again, "empty") == [])
        again.removeAll()
        again.flush()
        #expect(TemporaryFolder.entries(folder.file("cache")) == ["index", "lock"])
    }

    @Test("memory gives way to the disk, and the disk to newer answers")
    func pressure() throws {
        let folder = TemporaryFolder()
        let cache = cache(folder, memory: 5_000, disk: 40_000)
        for index in 0..<60 {
            let bytes = [UInt8](repeating: UInt8(index), count: 1000)
            cache.keep(fresh, bytes: bytes, for: try url("\(index)"), [:], asked: 1000)
            if index % 5 == 4 { cache.flush() }
            #expect(cache.size.disk <= 40_000)
        }
        #expect(cache.size.memory <= 5_000)
        #expect(try body(cache, "0") == nil && body(cache, "59") == Array(repeating: 59, count: 1000))
        #expect(try body(cache, "45") == Array(repeating: 45, count: 1000))
        cache.flush()
        #expect(TemporaryFolder.entries(folder.file("cache")).count == cache.count + 2)
    }

    @Test("damage at any byte of any file is a miss, and never more")
    func damage() throws {
        let folder = TemporaryFolder()
        do {
            let cache = cache(folder)
            cache.keep(fresh, bytes: [1, 2, 3], for: try url("x"), [:], asked: 1000)
            cache.flush()
        }
        let (index, bytes) = (try #require(folder.read("cache/index")), try #require(folder.read("cache/1.body")))
        for (name, good) in [("index", index), ("1.body", bytes)] {
            var bad = good.indices.map { place in good.enumerated().map { $0 == place ? $1 ^ 1 : $1 } }
            bad += stride(from: 0, to: good.count, by: 3).map { Array(good[..<$0]) } + [good + [0]]
            for damaged in bad {
                _ = folder.write("cache/index", index)
                _ = folder.write("cache/1.body", bytes)
                _ = folder.write("cache/\(name)", damaged)
                let cache = cache(folder)
                #expect(try body(cache, "x") == nil && cache.count == 0)
            }
        }
        _ = folder.write("cache/index", index)
        _ = folder.write("cache/1.body", bytes)
        #expect(try body(cache(folder), "x") == [1, 2, 3])
    }
}

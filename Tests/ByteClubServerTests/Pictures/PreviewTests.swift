import ByteClubCore
import ByteClubMedia
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct PreviewTests {
    private let directory: TemporaryDirectory
    private let turns = FairSemaphore(
        "threads", .init(total: 2, strangers: 1, member: 2, network: 1, queue: 8, queueOfRequester: 8))
    private let photo = ContentHasher.hash([7])
    private var path: String { directory.path + "/thumbnails" }

    init() throws { directory = try TemporaryDirectory() }

    private func store(_ make: @escaping @Sendable (String, [Int]) throws -> [Int: [UInt8]]) -> PictureStore {
        var makers = PictureStore.Makers()
        makers.previews = make
        return PictureStore(
            directory: path, threads: .singleton, turns: turns, reserve: DiskReserve(directory.path), makers: makers)
    }

    @Test("the pictures of a content are made once for all who ask for any, and what is no larger is kept once")
    func once() async throws {
        let count = Mutex(0)
        let store = self.store { _, sizes in
            count.withLock { $0 += 1 }
            // A photo of 600 pixels.
            return Dictionary(uniqueKeysWithValues: sizes.map { ($0, [UInt8](repeating: 1, count: min($0, 600))) })
        }
        let photo = photo
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for size in PictureStore.sizes {
                tasks.addTask {
                    let picture = try await store.preview(of: photo, size: size, for: .member(1)) { .bytes([7]) }
                    #expect(picture.length == min(Int64(size), 600))
                }
            }
            try await tasks.waitForAll()
        }
        #expect(count.withLock { $0 } == 1 && turns.used == 0)
        let files = ThumbnailCache(directory: path).files(beginning: photo.bytes[0])
        #expect(files.map(\.bytes).sorted() == [256, 512, 600])
        // A thumbnail is made of one that is large enough, and of none that may be the whole photo.
        #expect(store.preview(forThumbnailOf: photo, .m)?.length == 256)
        #expect(store.preview(forThumbnailOf: photo, .l) == nil)
    }

    @Test("a photo over which a process has ended is made for who asks, and no more unasked")
    func tried() async throws {
        let store = self.store { _, sizes in
            Dictionary(uniqueKeysWithValues: sizes.map { ($0, [UInt8](repeating: 1, count: $0)) })
        }
        let cache = ThumbnailCache(directory: path)
        cache.store([1], as: "\(photo)-trying")
        try await store.makePreviewsAhead(of: photo, for: .stranger(nil)) { .bytes([7]) }
        #expect(store.previewBytes(of: photo) == 0)
        let picture = try await store.preview(of: photo, size: 512, for: .member(1)) { .bytes([7]) }
        #expect(picture.length == 512)
        let other = ContentHasher.hash([8])
        try await store.makePreviewsAhead(of: other, for: .stranger(nil)) { .bytes([8]) }
        #expect(store.previewBytes(of: other) == Int64(PictureStore.sizes.reduce(0, +)))
        #expect(cache.read("\(other)-trying") == nil)
    }

    @Test("pictures that a crash of the machine may have torn are not shown, and are made anew")
    func torn() async throws {
        let count = Mutex(0)
        let make: @Sendable (String, [Int]) throws -> [Int: [UInt8]] = { _, sizes in
            count.withLock { $0 += 1 }
            return Dictionary(uniqueKeysWithValues: sizes.map { ($0, [UInt8](repeating: 1, count: $0)) })
        }
        let all = Int64(PictureStore.sizes.reduce(0, +))
        let first = store(make)
        try await first.makePreviewsAhead(of: photo, for: .stranger(nil)) { .bytes([7]) }
        #expect(first.previewBytes(of: photo) == all)
        // Nothing was synced: whoever comes after this process cannot know what is there.
        let second = store(make)
        #expect(second.previewBytes(of: photo) == 0)
        try await second.makePreviewsAhead(of: photo, for: .stranger(nil)) { .bytes([7]) }
        try await second.settle()
        let third = store(make)
        #expect(third.previewBytes(of: photo) == all && count.withLock { $0 } == 2)
    }

    @Test("pictures that somebody asked for, and why there are none, outlive what made them")
    func settled() async throws {
        let store = self.store {
            (file, sizes) throws(MediaError) in
            try Renditions.make(file: file, sizes: sizes, quality: 80)
        }
        await #expect(throws: APIError.self) {
            try await store.makePreviews(of: photo, for: .member(1)) { .bytes([7]) }
        }
        let later = self.store { _, _ in [:] }
        await #expect(throws: APIError.self) {
            try await later.makePreviews(of: photo, for: .member(1)) { .bytes([7]) }
        }
        let other = ContentHasher.hash([8])
        let making = self.store { _, sizes in
            Dictionary(uniqueKeysWithValues: sizes.map { ($0, [UInt8](repeating: 1, count: $0)) })
        }
        try await making.makePreviews(of: other, for: .member(1)) { .bytes([8]) }
        #expect(later.previewBytes(of: other) == Int64(PictureStore.sizes.reduce(0, +)))
    }

    @Test("a photo that cannot be decoded is tried once")
    func refusal() async throws {
        let count = Mutex(0)
        let store = self.store { _, _ throws(MediaError) in
            count.withLock { $0 += 1 }
            throw MediaError(.damaged, "no picture")
        }
        for _ in 1...2 {
            await #expect(throws: APIError(415, "the photo cannot be decoded: no picture")) {
                _ = try await store.preview(of: photo, size: 256, for: .member(1)) { .bytes([7]) }
            }
        }
        #expect(count.withLock { $0 } == 1)
    }

    @Test("the pictures of a content that no photo has any more leave the shelf, and the oldest beyond its limit")
    func pruning() async throws {
        let fixture = try StoreFixture()
        try await StoreFixture.put(fixture.store, "/a.jpg", [1])
        try await StoreFixture.put(fixture.store, "/b.png", [2])
        try await StoreFixture.put(fixture.store, "/c.md", [3])
        let cache = ThumbnailCache(directory: path)
        let hashes = (1...4).map { ContentHasher.hash([UInt8($0)]) }
        for hash in hashes { cache.store([UInt8](repeating: 0, count: 100), as: "\(hash)-256.jpg") }
        try await PictureShelf(cache: cache).prune(keepingPhotosOf: fixture.store)
        #expect(hashes.map { cache.read("\($0)-256.jpg") != nil } == [true, true, false, false])
        try await PictureShelf(cache: cache, limit: 150).prune(keepingPhotosOf: fixture.store)
        #expect(hashes.filter { cache.read("\($0)-256.jpg") != nil }.count == 1)
        try fixture.store.close()
    }

    @Test("a member's browser gets pictures by content that it need not ask for again, as long as a file has it")
    func pictures() async throws {
        try await TestServer.run { server in
            let bytes = Fixture.bytes("panoramas/city.jpg")
            _ = try await server.send("PUT /1/files_put/auto/p/city.jpg", body: bytes)
            let hash = ContentHasher.hash(bytes)
            let session = try await server.store.addWebSession(member: server.member.uid, lifetime: 3600)
            let cookie = "Cookie: byteclub=\(session)"
            let picture = try await server.send("GET /photos/\(hash)/512.jpg", [cookie])
            #expect(picture.status == 200 && picture["Content-Type"] == "image/jpeg")
            #expect(picture["Cache-Control"] == "private, max-age=31536000, immutable")
            #expect(picture["Cross-Origin-Resource-Policy"] == "same-origin")
            #expect(picture["X-Content-Type-Options"] == "nosniff")
            #expect(try JPEGHeader(bytes: Array(picture.body)).width == 512)
            let tag = try #require(picture["ETag"])
            let again = try await server.send("GET /photos/\(hash)/512.jpg", [cookie, "If-None-Match: \(tag)"])
            #expect(again.status == 304 && again.body.isEmpty)
            let head = try await server.send("HEAD /photos/\(hash)/4096.jpg", [cookie])
            #expect(head.status == 200 && head.body.isEmpty)
            let whole = try await server.send("GET /photos/\(hash)/original.jpg", [cookie])
            #expect(Array(whole.body) == bytes && whole["ETag"] == "\"\(hash)\"")
            for wrong in ["/photos/\(hash)/300.jpg", "/photos/\(photo)/256.jpg", "/photos/x/256.jpg", "/photos"] {
                #expect(try await server.send("GET \(wrong)", [cookie]).status == 404, "\(wrong)")
            }
            #expect(try await server.send("GET /photos/\(hash)/512.jpg", []).status == 403)
            #expect(try await server.post("/1/fileops/delete", "path=/p/city.jpg").status == 200)
            #expect(try await server.send("GET /photos/\(hash)/512.jpg", [cookie]).status == 404)
        }
    }

    @Test("PNG files have thumbnails, too")
    func png() async throws {
        try await TestServer.run { server in
            let picture = Fixture.bytes("panoramas/not-a-photo.jpg")
            let stored = try await server.send("PUT /1/files_put/auto/screen.png", body: picture).decoded(Metadata.self)
            #expect(stored.hasThumbnail)
            let small = try await server.get("/1/thumbnails/auto/screen.png?size=s")
            #expect(small.status == 200 && small["Content-Type"] == "image/jpeg")
            #expect(try JPEGHeader(bytes: Array(small.body)).height == 64)
            let told = try await server.get("/1/metadata/auto/screen.png?include_media_info=1").decoded(Metadata.self)
            #expect(told.photoInfo?.shape == PhotoShape(kind: .flat, width: 75, height: 100))
            try await server.store("/drawing.png", "x")
            #expect(try await server.get("/1/thumbnails/auto/drawing.png").status == 415)
        }
    }
}

import ByteClubCore
import ByteClubMedia
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct TileTests {
    private let directory: TemporaryDirectory
    private let turns = FairSemaphore(
        "threads", .init(total: 2, strangers: 1, member: 2, network: 1, queue: 8, queueOfRequester: 8))
    private let hash = ContentHasher.hash([7])
    private var path: String { directory.path + "/thumbnails" }

    init() throws { directory = try TemporaryDirectory() }

    /// A photo of some colours, with what the fixture of a dated one says of itself, such as that it lies on its side.
    private static func photo(width: Int, height: Int) throws -> [UInt8] {
        let rgb = (0..<3 * width * height).map { UInt8(truncatingIfNeeded: $0 / 97) }
        let jpeg = try #require(Picture(width: height, height: width, rgb: rgb)).jpeg()
        let told = Fixture.bytes("panoramas/dated.jpg")
        var offset = 2
        // EXIF, in the first APP1 segment.
        while told[offset + 1] != 0xE1 { offset += 2 + Int(told[offset + 2]) << 8 + Int(told[offset + 3]) }
        let end = offset + 2 + (Int(told[offset + 2]) << 8 | Int(told[offset + 3]))
        return Array(jpeg[..<2] + told[offset..<end] + jpeg[2...])
    }

    private func store(_ write: @escaping @Sendable (String, String) throws -> Void) -> PictureStore {
        var makers = PictureStore.Makers()
        makers.tiles = write
        return PictureStore(
            directory: path, threads: .singleton, turns: turns, reserve: DiskReserve(directory.path), makers: makers)
    }

    @Test(
        "the tiles of a content are made once for all who ask for any, kept in one file, and made again when it broke")
    func once() async throws {
        let photo = try Self.photo(width: 4200, height: 40)
        let count = Mutex(0)
        let store = store { file, output in
            count.withLock { $0 += 1 }
            try Tiles.write(file: file, to: output)
        }
        let hash = hash
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for column in 0..<9 {
                tasks.addTask {
                    let tile = try await store.tile(of: hash, column: column, row: 0, for: .member(1)) { .bytes(photo) }
                    let bytes = try await tile.file.read(at: tile.range.lowerBound, count: tile.range.count)
                    let header = try JPEGHeader(bytes: Array(bytes.readableBytesView))
                    #expect(header.width == (column < 8 ? 512 : 104) && header.height == 40)
                }
            }
            try await tasks.waitForAll()
        }
        #expect(count.withLock { $0 } == 1 && turns.used == 0)
        let cache = ThumbnailCache(directory: path)
        let files = cache.files(beginning: hash.bytes[0])
        #expect(files.count == 1)
        for (column, row) in [(9, 0), (0, 1), (127, 127)] {
            await #expect(throws: APIError(404, "the tile was not found")) {
                _ = try await store.tile(of: hash, column: column, row: row, for: .member(1)) { .bytes(photo) }
            }
        }
        cache.store([1, 2, 3, 4, 5], as: try #require(files.first).name)
        _ = try await store.tile(of: hash, column: 8, row: 0, for: .member(1)) { .bytes(photo) }
        #expect(count.withLock { $0 } == 2)
    }

    @Test("a photo that has none is looked at once, and tiles leave the shelf with their photo")
    func refusal() async throws {
        let photo = try Self.photo(width: 400, height: 40)
        let count = Mutex(0)
        let store = store { file, output in
            count.withLock { $0 += 1 }
            try Tiles.write(file: file, to: output)
        }
        for _ in 1...2 {
            await #expect(throws: APIError(404, "the tile was not found: a photo of 40x400 pixels has no tiles")) {
                _ = try await store.tile(of: hash, column: 0, row: 0, for: .member(1)) { .bytes(photo) }
            }
        }
        #expect(count.withLock { $0 } == 1)
        let cache = ThumbnailCache(directory: path)
        #expect(cache.files(beginning: hash.bytes[0]).count == 1)
        let fixture = try StoreFixture()
        try await PictureShelf(cache: cache).prune(keepingPhotosOf: fixture.store)
        #expect(cache.files(beginning: hash.bytes[0]).isEmpty)
        try fixture.store.close()
    }

    @Test("a name is a tile's in one spelling only")
    func names() throws {
        #expect(PictureName(["tiles", "12-0.jpg"]) == .made(.tile(column: 12, row: 0)))
        #expect(PictureName(["256.jpg"]) == .made(.size(256)) && PictureName(["original.jpg"]) == .original)
        for wrong in [
            [], [""], ["tiles"], ["tiles", ""], ["0-0.jpg"], ["tiles", "00-0.jpg"], ["tiles", "+1-0.jpg"],
            ["tiles", "-1-0.jpg"], ["tiles", "1--1.jpg"], ["tiles", "1-0.JPG"], ["tiles", "1-0"],
            ["tiles", "1000-1000.jpg"],
            ["tiles", "256.jpg"], ["Tiles", "0-0.jpg"], ["tiles", "0-0.jpg", ""], ["tiles", "0-0.jpg/"],
            ["tiles", "original.jpg"], ["..", "0-0.jpg"], ["tiles", "1\u{0660}-0.jpg"],
        ] {
            #expect(PictureName(wrong[...]) == nil, "\(wrong)")
        }
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5000 {
            let text =
                String(
                    (0..<Int.random(in: 0...9, using: &generator)).compactMap { _ in
                        "0123-+.jpg/ ".randomElement(using: &generator)
                    }) + (Bool.random(using: &generator) ? ".jpg" : "")
            guard case .made(.tile(let column, let row))? = PictureName(["tiles", text]) else { continue }
            #expect(text == "\(column)-\(row).jpg" && column >= 0 && row >= 0, "seed \(seed)")
        }
    }

    @Test("a member's browser gets the tiles of a large photo, and nobody else gets any")
    func members() async throws {
        let (large, small) = (try Self.photo(width: 4200, height: 600), Fixture.bytes("panoramas/city.jpg"))
        try await TestServer.run { server in
            for (name, bytes) in [("large", large), ("small", small)] {
                #expect(try await server.send("PUT /1/files_put/auto/p/\(name).jpg", body: bytes).status == 200)
            }
            let (hash, other) = (ContentHasher.hash(large), ContentHasher.hash(small))
            let session = try await server.store.addWebSession(member: server.member.uid, lifetime: 3600)
            let cookie = "Cookie: byteclub=\(session)"
            let page = try await server.send("GET /gallery/p/large.jpg", [cookie])
            #expect(page.text.contains("data-height=\"600\" data-tiles=\"512\""))
            #expect(try await !server.send("GET /gallery/p/small.jpg", [cookie]).text.contains("data-tiles"))
            let tile = try await server.send("GET /photos/\(hash)/tiles/8-1.jpg", [cookie])
            #expect(tile.status == 200 && tile["Content-Type"] == "image/jpeg")
            #expect(tile["Cache-Control"] == "private, max-age=31536000, immutable")
            #expect(tile["Cross-Origin-Resource-Policy"] == "same-origin")
            let header = try JPEGHeader(bytes: Array(tile.body))
            #expect(header.width == 104 && header.height == 88)
            let tag = try #require(tile["ETag"])
            let again = try await server.send("GET /photos/\(hash)/tiles/8-1.jpg", [cookie, "If-None-Match: \(tag)"])
            #expect(again.status == 304 && again.body.isEmpty)
            let next = try await server.send("GET /photos/\(hash)/tiles/7-1.jpg", [cookie, "If-None-Match: \(tag)"])
            #expect(next.status == 200 && next["ETag"] != tag)
            let head = try await server.send("HEAD /photos/\(hash)/tiles/0-0.jpg", [cookie])
            #expect(head.status == 200 && head.body.isEmpty)
            for wrong in [
                "\(hash)/tiles/9-0.jpg", "\(hash)/tiles/0-2.jpg", "\(hash)/tiles/00-0.jpg", "\(hash)/tiles/0-0",
                "\(hash)/tiles", "\(hash)/tiles/", "\(hash)/tiles/0-0.jpg/x", "\(hash)/tiles/..%2f256.jpg",
                "\(hash)/tiles/%2e%2e/256.jpg", "\(other)/tiles/0-0.jpg", "\(self.hash)/tiles/0-0.jpg",
                "x/tiles/0-0.jpg", "tiles/0-0.jpg",
            ] {
                let status = try await server.send("GET /photos/\(wrong)", [cookie]).status
                #expect(status == 404 || status == 400, "\(wrong): \(status)")
            }
            #expect(try await server.send("GET /photos/\(hash)/tiles/0-0.jpg", []).status == 403)
            #expect(try await server.post("/1/fileops/delete", "path=/p/large.jpg").status == 200)
            #expect(try await server.send("GET /photos/\(hash)/tiles/0-0.jpg", [cookie]).status == 404)
        }
    }

    @Test("a link gives the tiles of what it shares, which tell of no place, and of nothing else")
    func links() async throws {
        let (photo, other) = (try Self.photo(width: 4200, height: 40), try Self.photo(width: 4201, height: 40))
        #expect(try PhotoDetails(bytes: photo).place != nil)
        try await TestServer.run { server in
            for (path, bytes) in [("p/large.jpg", photo), ("q/other.jpg", other)] {
                #expect(try await server.send("PUT /1/files_put/auto/\(path)", body: bytes).status == 200)
            }
            let (hash, foreign) = (ContentHasher.hash(photo), ContentHasher.hash(other))
            for (path, fields) in [("p", ""), ("p/large.jpg", ""), ("p/large.jpg", "location=keep")] {
                let url = try await server.post("/1/shares/auto/\(path)", fields).text("url")
                let target = url.split(separator: "/").dropFirst(2)
                let base = "/s/\(try #require(target.dropFirst().first))/-"
                let tile = try await server.send("GET \(base)/\(hash)/tiles/8-0.jpg", [])
                #expect(tile.status == 200 && tile["Cache-Control"] == "private, max-age=3600", "\(path) \(fields)")
                #expect(try JPEGHeader(bytes: Array(tile.body)).width == 104)
                #expect(try PhotoDetails(bytes: Array(tile.body)).place == nil)
                let page =
                    path == "p" ? "/\(target.joined(separator: "/"))/large.jpg" : "/\(target.joined(separator: "/"))"
                #expect(try await server.send("GET \(page)", []).text.contains(" data-tiles=\"512\""), "\(page)")
                for wrong in [
                    "\(foreign)/tiles/0-0.jpg", "\(hash)/tiles/9-0.jpg", "\(hash)/tiles/0-0.jpg/x", "\(hash)/tiles",
                    "tiles/0-0.jpg", "\(hash)/tiles/original.jpg", "\(hash)",
                ] {
                    #expect(try await server.send("GET \(base)/\(wrong)", []).status == 404, "\(wrong)")
                }
            }
            let url = try await server.post("/1/shares/auto/q", "password=a%20long%20secret").text("url")
            let secret = try #require(url.split(separator: "/").dropFirst(3).first)
            #expect(try await server.send("GET /s/\(secret)/-/\(foreign)/tiles/0-0.jpg", []).status == 403)
        }
    }
}

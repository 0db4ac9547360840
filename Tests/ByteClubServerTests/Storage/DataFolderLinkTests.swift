import ByteClubCore
import ByteClubMedia
import Glibc
import Logging
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Links in the data folder lead nobody outside") struct DataFolderLinkTests {
    /// A file outside the data folder, of which nothing may be read or lost.
    private static func outside(_ bytes: [UInt8]) throws -> (folder: TemporaryDirectory, path: String) {
        let folder = try TemporaryDirectory()
        try LocalFiles.write(bytes, to: folder.path + "/secret")
        return (folder, folder.path + "/secret")
    }

    /// Puts a symbolic link in the place of a file.
    private static func replace(_ path: String, byLinkTo target: String) throws {
        unsafe unlink(path)
        try #require(unsafe symlink(target, path) == 0)
    }

    @Test("whoever may write in the data folder empties no file elsewhere through the health check")
    func healthCheck() async throws {
        let (folder, secret) = try Self.outside(Array("kept".utf8))
        let fixture = try StoreFixture()
        let directory = fixture.directory.path
        for name in ["health", "health-0"] { try Self.replace(directory + "/" + name, byLinkTo: secret) }
        try LocalFiles.write("mine", to: directory + "/health.txt")
        let before = try Set(Directory.names(in: directory))
        let check = HealthCheck(
            store: fixture.store, directory: directory, connections: OpenConnections(limit: 1))
        #expect(await check.problem() == nil)
        #expect(Fixture.bytes(at: secret) == Array("kept".utf8))
        #expect(try Set(Directory.names(in: directory)) == before, "the check leaves nothing behind and takes nothing")
        withExtendedLifetime(folder) {}
    }

    @Test("a member gets no file from outside the data folder that a link among the contents names")
    func contents() async throws {
        // Large enough for a file of its own; what follows a picture is not looked at.
        let photo = Fixture.bytes("panoramas/dated.jpg") + [UInt8](repeating: 0, count: 100_000)
        let (folder, secret) = try Self.outside(photo)
        try await TestServer.run { server in
            _ = try await server.send("PUT /1/files_put/auto/other.jpg", body: photo + [0])
            let other = try await server.get("/1/metadata/auto/other.jpg?include_media_info=true")
            #expect(other.text.contains("time_taken"))
            _ = try await server.send("PUT /1/files_put/auto/a.jpg", body: photo)
            let path = server.store.files.path(of: ContentHasher.hash(photo))
            #expect(try await server.get("/1/files/auto/a.jpg").body.count == photo.count)
            try Self.replace(path, byLinkTo: secret)
            let whole = try await server.get("/1/files/auto/a.jpg")
            #expect(whole.status == 500 && whole.body.count < 1000, "\(whole.start)")
            let small = try await server.get("/1/thumbnails/auto/a.jpg?size=xs")
            #expect(small.status >= 400 && small["Content-Type"] != "image/jpeg", "\(small.start)")
            let info = try await server.get("/1/metadata/auto/a.jpg?include_media_info=true")
            #expect(!info.text.contains("time_taken"), "\(info.text)")
        }
        withExtendedLifetime(folder) {}
    }

    @Test("a link among the thumbnails shows nobody another file")
    func thumbnails() throws {
        let (folder, secret) = try Self.outside(Array("secret".utf8))
        let cache = ThumbnailCache(directory: folder.path + "/thumbnails")
        cache.store([1, 2, 3], as: "abc")
        #expect(cache.read("abc") == [1, 2, 3])
        try Self.replace(folder.path + "/thumbnails/ab/abc", byLinkTo: secret)
        #expect(cache.read("abc") == nil)
    }

    @Test("photos are read through links only where a person names them")
    func photos() throws {
        let (folder, secret) = try Self.outside(Fixture.bytes("panoramas/dated.jpg"))
        let link = folder.path + "/link.jpg"
        try Self.replace(link, byLinkTo: secret)
        #expect(throws: Never.self) { try PhotoDetails(file: link) }
        #expect(throws: MediaError.self) { try PhotoDetails(file: link, followsLinks: false) }
        #expect(throws: Never.self) { try PhotoDetails(file: secret, followsLinks: false) }
    }

    @Test(
        "a backup with a link or a pipe in it brings no other file into the club",
        arguments: ["link", "pipe", "folder"])
    func backup(_ kind: String) async throws {
        let bytes = randomBytes(100_000, seed: 1)
        let (folder, secret) = try Self.outside(bytes)
        let fixture = try StoreFixture()
        try await fixture.put("/p.bin", bytes)
        let path = fixture.store.files.path(of: ContentHasher.hash(bytes))
        try Self.replace(path, byLinkTo: secret)
        if kind != "link" { unsafe unlink(path) }
        if kind == "pipe" { unsafe mkfifo(path, 0o600) }
        if kind == "folder" { unsafe mkdir(path, 0o700) }
        let error = #expect(throws: StorageError.self) {
            try DirectoryCopy(from: fixture.directory.path, to: folder.path + "/copy").make()
        }
        #expect(error?.code == .damaged && error?.message.contains("not a regular file") == true)
        #expect(try Directory.names(in: folder.path) == ["secret"])
    }

    @Test(
        "a data folder in which others may write is not served without a word",
        arguments: [(0o700 as mode_t, false), (0o755, false), (0o777, true), (0o702, true)])
    func openFolder(_ mode: mode_t, _ isTold: Bool) throws {
        let folder = try TemporaryDirectory()
        let data = folder.path + "/data"
        try Directory.make(data)
        unsafe chmod(data, mode)
        let log = LogLines()
        let store = try SQLiteStore(
            directory: data, now: { APIDate(seconds: 1) },
            logger: Logger(label: "test") { _ in LineLog(level: .info) { log.add($0) } })
        try store.close()
        #expect(log.all.contains { $0.contains("'\(data)' is writable by others") } == isTold, "\(log.all)")
    }
}

import ByteClubCore
import GRDB
import NIOPosix
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct MediaInfoTests {
    private static let known = MediaInfo(
        taken: APIDate("Mon, 05 Aug 2013 16:40:12 +0000").map { TakenTime(moment: $0, offset: 7200) },
        place: MediaInfo.Place(latitude: 50.6089, longitude: 6.4381),
        shape: PhotoShape(kind: .flat, width: 300, height: 400))

    private func fill(_ server: TestServer) async throws {
        _ = try await server.send("PUT /1/files_put/auto/p/ridge.jpg", body: Fixture.bytes("panoramas/dated.jpg"))
        _ = try await server.send("PUT /1/files_put/auto/p/large.jpg", body: Fixture.bytes("panoramas/city.jpg"))
        try await server.store("/p/fake.jpg", "no photo")
        try await server.store("/p/drawing.png", "x")
        try await server.store("/p/clip.mp4", "x")
        try await server.store("/p/note.md", "x")
    }

    @Test("include_media_info tells when and where a photo was taken, for a file and for a folder's children")
    func metadata() async throws {
        try await TestServer.run { server in
            try await fill(server)
            let file = try await server.get("/1/metadata/auto/p/ridge.jpg?include_media_info=True&list=false")
            #expect(try file.decoded(Metadata.self).photoInfo == Self.known)
            #expect(
                file.text.contains(
                    #""photo_info":{"time_taken":"Mon, 05 Aug 2013 16:40:12 +0000","time_offset":7200,"lat_long":[50.6089,6.4381],"#
                        + #""shape":{"kind":"flat","width":300,"height":400,"#))
            for _ in 1...2 {
                let folder = try await server.get("/1/metadata/auto/p?include_media_info=true").decoded(Metadata.self)
                let found = Dictionary(
                    uniqueKeysWithValues: (folder.contents ?? []).map { ($0.path.name, ($0.photoInfo, $0.videoInfo)) })
                #expect(found["ridge.jpg"]?.0 == Self.known && found["ridge.jpg"]?.1 == nil)
                let large = found["large.jpg"]?.0
                #expect(large?.shape?.width == 1024 && large?.taken == nil && large?.place == nil)
                for name in ["fake.jpg", "drawing.png"] { #expect(found[name]?.0 == MediaInfo()) }
                #expect(found["clip.mp4"]?.1 == MediaInfo() && found["clip.mp4"]?.0 == nil)
                #expect(found["note.md"]?.0 == nil && found["note.md"]?.1 == nil)
            }
            let plain = try await server.get("/1/metadata/auto/p")
            #expect(!plain.text.contains("_info"))
        }
    }

    @Test("a caption beside a photo says how it is to be looked at, in a listing and for the photo alone")
    func caption() async throws {
        try await TestServer.run { server in
            try await fill(server)
            try await server.store("/p/Large.JPG.md", "---\nview: sphere\n---\nThe square")
            for target in [
                "/1/metadata/auto/p?include_media_info=1", "/1/metadata/auto/p/large.jpg?include_media_info=1",
            ] {
                let told = try await server.get(target).decoded(Metadata.self)
                let photo = (told.contents ?? [told]).first { $0.path.name == "large.jpg" }
                let shape = try #require(photo?.photoInfo?.shape)
                #expect(shape.kind == .sphere && shape.hFOV == 360 && shape.vFOV == 180 && shape.width == 1024)
            }
            let other = try await server.get("/1/metadata/auto/p/ridge.jpg?include_media_info=1")
            #expect(try other.decoded(Metadata.self).photoInfo == Self.known)
        }
    }

    @Test("what a reader of another version found is found again")
    func otherVersion() async throws {
        let fixture = try StoreFixture()
        let hash = ContentHasher.hash([1])
        try await fixture.store.keep([hash: Self.known])
        #expect(try await fixture.store.mediaInfo(of: [hash]) == [hash: Self.known])
        try await fixture.store.pool.write { try $0.execute(sql: "UPDATE media_info SET version = version - 1") }
        #expect(try await fixture.store.mediaInfo(of: [hash]).isEmpty)
        try fixture.store.close()
    }

    /// Makes a club with one photo that is known to an older reader, in a database of its version.
    private static func makeOld(_ directory: String, _ clock: Clock) async throws -> FolderEntry {
        let store = try StoreFixture.open(directory, clock: clock)
        let entry = try await StoreFixture.put(store, "/p/a.jpg", [1])
        try await store.keep([try #require(entry.contentHash): known])
        try await store.pool.write { database in
            for (type, name) in [("VIEW", "gallery_source"), ("TRIGGER", "note_added"), ("TRIGGER", "note_changed")] {
                let sql = try String.fetchOne(
                    database, sql: "SELECT sql FROM sqlite_schema WHERE name = ?", arguments: [name])
                let clock = /coalesce\(CAST\(strftime\('%s', (.*?), 'unixepoch', 'localtime'\) AS INTEGER\), \1\)/
                let older = try #require(sql).replacing(clock) { $0.1 }
                    .replacing(
                        "coalesce(m.taken, coalesce(v.client_modified / 1000000000, v.modified))",
                        with: "coalesce(m.taken, v.client_modified / 1000000000, v.modified)")
                try #require(older != sql)
                try database.execute(sql: "DROP \(type) \(name); \(older)")
            }
            try database.execute(
                sql: """
                    ALTER TABLE media_info DROP COLUMN taken_offset; ALTER TABLE media_info DROP COLUMN placeholder;
                    UPDATE media_info SET version = 1;
                    PRAGMA user_version = 13;
                    DELETE FROM grdb_migrations WHERE CAST(identifier AS INTEGER) > 13;
                    """)
        }
        try store.close()
        return entry
    }

    @Test("photos of a database whose reader found less are read again, and keep their places in the gallery meanwhile")
    func olderDatabase() async throws {
        let (directory, clock) = (try TemporaryDirectory(), Clock())
        let entry = try await Self.makeOld(directory.path, clock)
        let store = try StoreFixture.open(directory.path, clock: clock)
        #expect(try await store.unreadPhotos(below: .root, limit: 9).map(\.revision) == [entry.revision])
        let shown = try await store.gallery(
            .older(than: GalleryPlace(seconds: .max, revision: .max)), of: .photos, limit: 9)
        #expect(shown.map(\.date) == [try #require(Self.known.taken?.clock)])
        try await store.keep([try #require(entry.contentHash): Self.known])
        #expect(try await store.unreadPhotos(below: .root, limit: 9).isEmpty)
        try store.close()
    }

    @Test("a photo whose content is lost is left out alone, and told as pending")
    func lost() async throws {
        let fixture = try StoreFixture()
        let lost = try await fixture.put("/p/lost.jpg", Fixture.bytes("panoramas/night.jpg"))
        let kept = try await fixture.put("/p/kept.jpg", Fixture.bytes("panoramas/dated.jpg"))
        fixture.store.files.remove(try #require(lost.contentHash))
        let turns = FairSemaphore(
            "threads", .init(total: 1, strangers: 1, member: 1, network: 1, queue: 1, queueOfRequester: 1))
        let reader = MediaInfoReader(store: fixture.store, threads: .singleton, turns: turns)
        let told = try await reader.describe([Metadata(lost), Metadata(kept)], for: .member(1))
        #expect(told.map(\.photoInfo) == [.pending, Self.known])
        #expect(try await fixture.store.unreadPhotos(below: .root, limit: 9).map(\.path) == [lost.path])
        try fixture.store.close()
    }

    @Test("a delta with media info tells it with each photo; the choice must be repeated")
    func delta() async throws {
        try await TestServer.run { server in
            try await fill(server)
            let page = try await server.post("/1/delta", "include_media_info=true").decoded(DeltaPage.self)
            let found = page.entries.first { $0.key.string == "/p/ridge.jpg" }
            #expect(page.entries.count == 7 && found?.metadata?.photoInfo == Self.known)
            #expect(try await server.post("/1/fileops/delete", "path=/p/note.md").status == 200)
            try await server.store("/p/b.md")
            let next = try await server.post("/1/delta", "include_media_info=1&cursor=\(page.cursor)")
                .decoded(DeltaPage.self)
            #expect(next.entries.map { $0.metadata?.path.name } == [nil, "b.md"])
            #expect(try await server.post("/1/delta", "cursor=\(page.cursor)").status == 400)
        }
    }

    @Test("what was read from a content is kept for every file that has it")
    func kept() async throws {
        try await TestServer.run { server in
            try await fill(server)
            let hash = ContentHasher.hash(Fixture.bytes("panoramas/dated.jpg"))
            #expect(try await server.store.mediaInfo(of: [hash]).isEmpty)
            _ = try await server.get("/1/metadata/auto/p?include_media_info=true")
            #expect(try await server.store.mediaInfo(of: [hash]) == [hash: Self.known])
            let commits = server.store.statistics.commits.time.count
            _ = try await server.post("/1/fileops/copy", "from_path=/p/ridge.jpg&to_path=/other.jpg")
            let copy = try await server.get("/1/metadata/auto/other.jpg?include_media_info=true")
            #expect(try copy.decoded(Metadata.self).photoInfo == Self.known)
            #expect(server.store.statistics.commits.time.count == commits + 1)
        }
    }
}

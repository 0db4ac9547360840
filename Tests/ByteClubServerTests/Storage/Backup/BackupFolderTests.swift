import ByteClubCore
import ByteClubFiles
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Dated backups of which the newest are kept")
struct BackupFolderTests {
    /// 2026-11-25 01:30:00 UTC.
    private static let start: Int64 = 1_795_570_200

    /// A club, and a folder for its backups.
    private struct Bench {
        let fixture: StoreFixture
        let parent: TemporaryDirectory
        let folder: String

        init(backupsIn place: String? = nil) async throws {
            fixture = try StoreFixture()
            parent = try TemporaryDirectory(in: place)
            folder = parent.path + "/backups"
            try await fixture.put("/a.md", [1])
            try await fixture.put("/p.jpg", randomBytes(100_000, seed: 1))
        }

        var names: [String] {
            get throws { try Directory.names(in: folder).filter { $0 != "backup.lock" }.sorted() }
        }

        /// Backs up so many days after the start.
        @discardableResult
        func add(day: Int64, keeping count: Int) async throws -> BackupSummary {
            try await BackupFolder(path: folder).add(
                DataDirectory(path: fixture.directory.path), keeping: count,
                now: APIDate(seconds: BackupFolderTests.start + day * 86_400))
        }

        func blob(_ seed: UInt64, in backup: String) throws -> String {
            let hash = ContentHasher.hash(randomBytes(100_000, seed: seed))
            return FileBlobStore(existing: folder + "/" + backup).path(of: hash)
        }

        /// Puts other bytes of the same length in the place of a content.
        func damage(_ seed: UInt64) throws {
            let path = fixture.store.files.path(of: ContentHasher.hash(randomBytes(100_000, seed: seed)))
            unsafe unlink(path)
            try LocalFiles.write(randomBytes(100_000, seed: 99), to: path)
        }
    }

    private static func day(_ day: Int) -> String { "2026-11-\(25 + day)T013000Z" }

    @Test("The newest stay and the oldest go, and each is whole")
    func keeps() async throws {
        let bench = try await Bench()
        for day in 0..<4 {
            try await bench.fixture.put("/a.md", [UInt8(day)])
            let summary = try await bench.add(day: Int64(day), keeping: 2)
            #expect(summary.path == bench.folder + "/" + Self.day(day))
            #expect(summary.removed == (day < 2 ? [] : [bench.folder + "/" + Self.day(day - 2)]))
            #expect(summary.line.contains(" of it shared") && summary.line.contains("; removed ") == (day >= 2))
        }
        #expect(try bench.names == [Self.day(2), Self.day(3)])
        for name in try bench.names {
            #expect(try await Verifier(directory: bench.folder + "/" + name).run().findings == [])
        }
        let names = try Set(Directory.names(in: bench.folder + "/" + Self.day(3)))
        #expect(names.isSuperset(of: ["byteclub.sqlite", "blobs", "staging"]) && !names.contains("lock"))
        // Two that begin in one second, and one that the clock puts before all others.
        #expect(try await bench.add(day: 3, keeping: 2).path.hasSuffix("/2026-11-28T013001Z"))
        #expect(try await bench.add(day: 3, keeping: 1).path.hasSuffix("/2026-11-28T013002Z"))
        #expect(try await bench.add(day: 3, keeping: 2).path.hasSuffix("/2026-11-28T013003Z"))
        #expect(try await bench.add(day: 0, keeping: 1).removed.count == 2)
        #expect(try bench.names == [Self.day(0)])
    }

    @Test("What did not change is one file with the backup before, also where the club is on another file system")
    func shares() async throws {
        let bench = try await Bench(backupsIn: unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : nil)
        let first = try await bench.add(day: 0, keeping: 9)
        try await bench.fixture.put("/q.jpg", randomBytes(100_000, seed: 2))
        let second = try await bench.add(day: 1, keeping: 9)
        #expect(second.copy.contents == 2 && second.copy.linked >= 1)
        #expect(second.copy.sharedBytes >= 100_000 && second.copy.bytes > first.copy.bytes + 99_999)
        #expect(Directory.isSame(try bench.blob(1, in: Self.day(0)), try bench.blob(1, in: Self.day(1))))
        #expect(Directory.linkCount(try bench.blob(1, in: Self.day(1))) >= 2)
        let third = try await bench.add(day: 2, keeping: 1)
        #expect(third.copy.linked == 2 && third.copy.sharedBytes == 200_000 && third.removed.count == 2)
        #expect(try await Verifier(directory: third.path).run().findings == [])
    }

    @Test("What is restored shares no file with its backup")
    func restores() async throws {
        let bench = try await Bench()
        let backup = try await bench.add(day: 0, keeping: 1).path
        let restored = bench.parent.path + "/restored"
        let summary = try DataDirectory(path: backup).copy(to: restored, sharing: .nothing)
        #expect(summary.contents == 1 && summary.linked == 0 && summary.sharedBytes == 0)
        #expect(try await Verifier(directory: restored).run().findings == [])
        let hash = ContentHasher.hash(randomBytes(100_000, seed: 1))
        #expect(Directory.linkCount(FileBlobStore(existing: restored).path(of: hash)) == 1)
    }

    @Test("What a crash left is removed by the next backup, and what is no backup stays")
    func leftovers() async throws {
        let bench = try await Bench()
        try await bench.add(day: 0, keeping: 9)
        let foreign = [
            "2026-11-01T000000Z", "2026-11-01T000000Z.partly", "notes.part", "2026-11-02T000000Z", "2026-11-03T000000Z",
        ]
        let left = [
            "2026-11-04T000000Z.part", "2026-11-05T000000Z.part.part-01ab34cd", "2026-11-06T000000Z.part",
        ]
        for name in foreign.prefix(3) + left { try LocalFiles.write([1], to: bench.folder + "/\(name)/blobs/ab/cdef") }
        try LocalFiles.write([1], to: bench.folder + "/\(left[2])/byteclub.sqlite")
        try #require(unsafe symlink(Self.day(0), bench.folder + "/" + foreign[3]) == 0)
        // Somebody served this one: it may have what nothing else has.
        for file in ["byteclub.sqlite", "lock"] {
            try LocalFiles.write([], to: bench.folder + "/\(foreign[4])/\(file)")
        }
        let summary = try await bench.add(day: 1, keeping: 1)
        #expect(summary.removed == [bench.folder + "/" + Self.day(0)])
        #expect(try bench.names == (foreign + [Self.day(1)]).sorted())
    }

    @Test("A backup that fails leaves nothing and removes nothing")
    func failure() async throws {
        let bench = try await Bench()
        for day in 0..<3 { try await bench.add(day: Int64(day), keeping: 9) }
        let before = try bench.names
        try await bench.fixture.put("/q.jpg", randomBytes(100_000, seed: 2))
        try bench.damage(2)
        let damaged = await #expect(throws: StorageError.self) { try await bench.add(day: 4, keeping: 1) }
        #expect(damaged?.code == .damaged && damaged?.message.contains("run verify") == true, "\(damaged as Any)")
        #expect(try bench.names == before)
        unsafe unlink(bench.fixture.store.files.path(of: ContentHasher.hash(randomBytes(100_000, seed: 2))))
        await #expect(throws: StorageError.self) { try await bench.add(day: 4, keeping: 1) }
        #expect(try bench.names == before)
        let other = try Descriptor(path: bench.folder + "/backup.lock", flags: O_RDWR)
        #expect(try other.lock())
        let busy = await #expect(throws: StorageError.self) { try await bench.add(day: 4, keeping: 1) }
        #expect(busy?.code == .inUse)
        #expect(try bench.names == before)
    }

    @Test("Neither nothing is backed up, nor anything into a club's own folder")
    func refusals() async throws {
        let bench = try await Bench()
        let data = bench.fixture.directory.path
        let none = bench.parent.path + "/none"
        let now = APIDate(seconds: Self.start)
        let missing = await #expect(throws: StorageError.self) {
            try await BackupFolder(path: bench.folder).add(DataDirectory(path: none), keeping: 1, now: now)
        }
        #expect(missing?.code == .missing && !LocalFiles.exists(bench.folder) && !LocalFiles.exists(none))
        let own = await #expect(throws: StorageError.self) {
            try await BackupFolder(path: data).add(DataDirectory(path: data), keeping: 1, now: now)
        }
        #expect(own?.code == .exists && !LocalFiles.exists(data + "/backup.lock"))
    }
}

import ByteClubCore
import ByteClubFiles
import CLinux
import GRDB
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("What a crash leaves behind")
struct RecoveryTests {
    private static func write(_ path: String, _ bytes: [UInt8]) throws {
        let file = try Descriptor(path: path, flags: O_WRONLY | O_CREAT)
        try file.write(bytes, at: file.length())
    }

    /// Copies the data directory as it lies on the disk, which is what a killed server leaves.
    private static func crashed(_ fixture: StoreFixture) throws -> TemporaryDirectory {
        let copy = try TemporaryDirectory()
        let source = fixture.directory.path
        for name in try Directory.names(in: source) where name.hasPrefix("byteclub.sqlite") {
            try write(copy.path + "/" + name, Fixture.bytes(at: source + "/" + name))
        }
        for folder in ["staging", "blobs"] {
            try Directory.make(copy.path + "/" + folder)
            for name in try Directory.names(in: source + "/" + folder) {
                let (from, to) = (source + "/\(folder)/\(name)", copy.path + "/\(folder)/\(name)")
                guard folder == "blobs" else {
                    try write(to, Fixture.bytes(at: from))
                    continue
                }
                try Directory.make(to)
                for file in try Directory.names(in: from) {
                    try write(to + "/" + file, Fixture.bytes(at: from + "/" + file))
                }
            }
        }
        return copy
    }

    @Test("Acknowledged writes, and an upload up to its acknowledged length, are there after a crash")
    func survivesCrash() async throws {
        let fixture = try StoreFixture()
        let bytes = randomBytes(5_000_000, seed: 1)
        let note = try await fixture.put("/n.md", Array("text".utf8))
        let photo = try await fixture.put("/p.jpg", bytes)
        let upload = try await fixture.store.beginUpload(member: 1)
        let first = try await fixture.store.appendToUpload(upload.uploadID, member: 1, at: 0)
        try await first.write(Array(bytes[..<4_500_000]))
        _ = try await first.finish()
        let second = try await fixture.store.appendToUpload(upload.uploadID, member: 1, at: 4_500_000)
        try await second.write(randomBytes(600_000, seed: 2))
        try await second.flush()
        let staged = try await fixture.store.blobs.writer()
        try await staged.write(randomBytes(600_000, seed: 3))
        #expect(fixture.staged.count == 2)

        let copy = try Self.crashed(fixture)
        try Self.write(copy.path + "/staging/upload-unknown", [1])
        try Self.write(copy.path + "/staging/upload-" + upload.uploadID, randomBytes(100_000, seed: 4))
        let store = try StoreFixture.open(copy.path, clock: fixture.seconds)
        #expect(try Directory.names(in: store.files.staging) == ["upload-" + upload.uploadID])
        #expect(Directory.fileLength(store.files.uploadPath(upload.uploadID)) == 4_500_000)
        #expect(try await store.read { try [$0.live(note.path), $0.live(photo.path)] } == [note, photo])
        #expect(Fixture.bytes(at: store.files.path(of: ContentHasher.hash(bytes))) == bytes)

        let last = try await store.appendToUpload(upload.uploadID, member: 1, at: 4_500_000)
        try await last.write(Array(bytes[4_500_000...]))
        _ = try await last.finish()
        let content = try await store.finishedUpload(upload.uploadID, member: 1)
        #expect(content.hash == ContentHasher.hash(bytes))
        _ = (second, staged)
    }

    @Test("A log that servers left long, none of which lived to copy it, is copied at the start")
    func longLog() async throws {
        let fixture = try StoreFixture()
        let note = try await fixture.put("/n.md", Array("text".utf8))
        try await fixture.store.pool.write {
            try $0.execute(sql: "CREATE TABLE filler(bytes BLOB); INSERT INTO filler VALUES (randomblob(20 << 20))")
        }
        let copy = try Self.crashed(fixture)
        let log = copy.path + "/byteclub.sqlite-wal"
        #expect(Directory.fileLength(log) ?? 0 > 20 << 20)
        let store = try StoreFixture.open(copy.path, clock: fixture.seconds)
        #expect(Directory.fileLength(log) ?? 0 < 1 << 20)
        #expect(try await store.read { try $0.live(note.path) } == note)
    }

    @Test("A start that fails leaves no word of a server that did not stop")
    func failedStart() async throws {
        let fixture = try StoreFixture()
        let lock = fixture.directory.path + "/lock"
        #expect(Directory.fileLength(lock) ?? 0 > 0)
        try await fixture.store.pool.write { try $0.execute(sql: "PRAGMA user_version = \(Schema.version + 1)") }
        try fixture.store.close()
        #expect(Directory.fileLength(lock) == 0)
        #expect(throws: StorageError.self) { try StoreFixture.open(fixture.directory.path, clock: fixture.seconds) }
        #expect(Directory.fileLength(lock) == 0)
        // One that finds what a crash left does not make it forgotten.
        try Self.write(lock, [1])
        #expect(throws: StorageError.self) { try StoreFixture.open(fixture.directory.path, clock: fixture.seconds) }
        #expect(Directory.fileLength(lock) == 1)
    }

    @Test("A content that no row knows yet is taken for what it is when it comes again")
    func orphanedContent() async throws {
        let fixture = try StoreFixture()
        let bytes = randomBytes(100_000, seed: 5)
        let hash = ContentHasher.hash(bytes)
        try Directory.make(fixture.store.files.directory(of: hash))
        try Self.write(fixture.store.files.path(of: hash), bytes)
        let entry = try await fixture.put("/x", bytes)
        #expect(try await fixture.bytes(entry) == bytes)
        #expect(fixture.blobCount == 1)
    }

    @Test("An upload that got its place but not its row before a crash can be committed, and not be written to")
    func uploadPlacedBeforeCrash() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let bytes = randomBytes(100_000, seed: 6)
        let hash = ContentHasher.hash(bytes)
        let upload = try await store.beginUpload(member: 1)
        let chunk = try await store.appendToUpload(upload.uploadID, member: 1, at: 0)
        try await chunk.write(bytes)
        _ = try await chunk.finish()
        try Directory.make(store.files.directory(of: hash))
        #expect(Directory.linkNew(store.files.uploadPath(upload.uploadID), to: store.files.path(of: hash)) == 0)
        await #expect(throws: UploadError.unknown) {
            try await store.appendToUpload(upload.uploadID, member: 1, at: 100_000)
        }
        let content = try await store.finishedUpload(upload.uploadID, member: 1)
        let entry = try await store.write(by: 1, storing: content) {
            try $0.put(
                try RemotePath("/x"), bytes: content.bytes, hash: content.hash, condition: .create, policy: .fail)
        }
        #expect(try await fixture.bytes(entry) == bytes)
        #expect(fixture.staged.isEmpty)
    }

    @Test("One server at a time has a data directory, and it is its owner's alone")
    func locks() async throws {
        let fixture = try StoreFixture()
        let process = getpid()
        let inUse =
            "another server is using '\(fixture.directory.path)': process \(process); 'kill \(process)' ends it"
        #expect(throws: StorageError(.inUse, inUse)) {
            try StoreFixture.open(fixture.directory.path, clock: fixture.seconds)
        }
        // What a server left that crashed, or runs in a container, says nothing of a process that is seen here.
        for other in ["served \(getppid())\n", "served \(Int32.max)\n", "served 2\n"] {
            let file = try Descriptor(path: fixture.directory.path + "/lock", flags: O_WRONLY | O_TRUNC)
            try file.write(Array(other.utf8), at: 0)
            #expect(throws: StorageError(.inUse, "another server is using '\(fixture.directory.path)'"), "\(other)") {
                try StoreFixture.open(fixture.directory.path, clock: fixture.seconds)
            }
        }
        let fresh = fixture.directory.path + "/data"
        let store = try StoreFixture.open(fresh, clock: fixture.seconds)
        _ = try await store.addMember(name: "Ann", role: nil, oauth1: false)
        for name in try Directory.names(in: fresh) {
            var status = stat()
            unsafe lstat(fresh + "/" + name, &status)
            #expect(status.st_mode & 0o077 == 0, "\(name)")
        }
    }

    @Test("A database that is none is refused in one line, and stays as it is")
    func refusesDamage() throws {
        let directory = try TemporaryDirectory()
        let garbage = randomBytes(8192, seed: 1)
        try Self.write(directory.path + "/byteclub.sqlite", garbage)
        #expect(throws: StorageError.self) { try StoreFixture.open(directory.path, clock: Clock()) }
        #expect(Fixture.bytes(at: directory.path + "/byteclub.sqlite") == garbage)
    }

    @Test("A database of a newer program is refused")
    func refusesNewerSchema() async throws {
        let fixture = try StoreFixture()
        try await fixture.store.pool.write { try $0.execute(sql: "PRAGMA user_version = \(Schema.version + 1)") }
        #expect(throws: StorageError.self) {
            try StoreFixture.open(fixture.directory.path, mode: .administration, clock: fixture.seconds)
        }
    }
}

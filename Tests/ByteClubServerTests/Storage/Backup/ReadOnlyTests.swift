import ByteClubCore
import CLinux
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Data that others own, or that nobody may write")
struct ReadOnlyTests {
    /// Another place of a directory, where nobody may write; gone when its owner is.
    private final class ReadOnly: Sendable {
        let directory: TemporaryDirectory
        let path: String

        init?(_ source: String) throws {
            directory = try TemporaryDirectory()
            // A name that means something in the address of a database.
            path = directory.path + "/50%20?#"
            try Directory.make(path)
            let flags = UInt(MS_BIND)
            guard unsafe mount(source, path, nil, flags, nil) == 0,
                unsafe mount(nil, path, nil, flags | UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil) == 0
            else { return nil }
        }

        deinit { unsafe umount2(path, Int32(MNT_DETACH)) }
    }

    private static func owner(_ path: String) -> uid_t? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_uid : nil
    }

    @Test("a backup on a read-only file system is checked and restored", arguments: [false, true])
    func readOnly(wasVerified: Bool) async throws {
        let fixture = try StoreFixture()
        let entry = try await fixture.put("/a.md", [1])
        try await fixture.put("/photos/p.jpg", randomBytes(100_000, seed: 1))
        let parent = try TemporaryDirectory()
        let (target, restored) = (parent.path + "/backup", parent.path + "/restored")
        _ = try DirectoryCopy(from: fixture.directory.path, to: target).make()
        if wasVerified { #expect(try await Verifier(directory: target).run().findings == []) }
        guard let backup = try ReadOnly(target) else {
            print("skipped: a directory cannot be mounted read-only here (errno \(errno))")
            return
        }
        #expect(try await Verifier(directory: backup.path).run().findings == [])
        _ = try DirectoryCopy(from: backup.path, to: restored, sharing: .nothing).make()
        #expect(try await Verifier(directory: restored).run().findings == [])
        let copy = try StoreFixture.open(restored, clock: fixture.seconds)
        #expect(try await copy.read { try $0.latest(entry.path) } == entry)
        try copy.close()
    }

    @Test("what is left in the log of a directory on a read-only file system is not overlooked")
    func log() async throws {
        let fixture = try StoreFixture()
        try await fixture.put("/a.md", [1])
        guard let served = try ReadOnly(fixture.directory.path) else {
            print("skipped: a directory cannot be mounted read-only here (errno \(errno))")
            return
        }
        let report = try await Verifier(directory: served.path).run()
        #expect(report.isClean && report.versions == 1)
    }

    @Test("the lock of contents is there once a server had the directory, and belongs to that directory's owner")
    func owner() async throws {
        let fixture = try StoreFixture()
        let directory = fixture.directory.path
        let lock = directory + "/contents.lock"
        #expect(Directory.fileLength(lock) == 0)
        try fixture.store.close()
        guard geteuid() == 0, unsafe chown(directory, 65534, 65534) == 0 else {
            print("skipped: only root gives directories away")
            return
        }
        // It was root's, as long as root could make it.
        #expect(Self.owner(lock) == 0)
        #expect(try await Verifier(directory: directory).run().isClean)
        #expect(Self.owner(lock) == 65534)
        unsafe unlink(lock)
        #expect(try await Verifier(directory: directory).run().isClean)
        #expect(Self.owner(lock) == 65534)
    }
}

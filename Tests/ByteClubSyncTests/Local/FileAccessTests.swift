import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync

/// Who may read the files of a mirror on a machine that several people use.
@Suite struct FileAccessTests {
    private func synced(_ names: [String], mode: mode_t) async throws -> (MemoryRemote, Device) {
        let remote = MemoryRemote()
        let device = try Device(remote, in: FastDisk.path)
        for name in names { device.write(name, "one\ntwo\nthree\nfour\nfive\n") }
        try await device.sync()
        for name in names { unsafe chmod(device.root + "/" + name, mode) }
        return (remote, device)
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    @Test(
        "another member's text opens no file that its owner has closed", arguments: [0o600, 0o400, 0o640, 0o700, 0o666])
    func updated(mode: Int) async throws {
        let mode = mode_t(mode)
        let (remote, device) = try await synced(["a.md"], mode: mode)
        try await remote.write("a.md", "of another")
        try await device.sync()
        #expect(device.read("a.md") == "of another" && self.mode(device.root + "/a.md") == mode)
    }

    @Test("texts that come many at once open no file that its owner has closed")
    func many() async throws {
        let names = (0..<100).map { "note \($0).md" }
        let (remote, device) = try await synced(names, mode: 0o600)
        for name in names { try await remote.write(name, "of another") }
        #expect(try await device.sync().downloaded == 100)
        #expect(names.allSatisfy { mode(device.root + "/" + $0) == 0o600 })
    }

    @Test("a photo that is replaced opens no file that its owner has closed")
    func large() async throws {
        let remote = MemoryRemote()
        let device = try Device(remote, in: FastDisk.path)
        let size = Int(SyncBatch.maximumInlineBytes) + 1
        device.write("a.jpg", [UInt8](repeating: 1, count: size))
        try await device.sync()
        unsafe chmod(device.root + "/a.jpg", 0o600)
        try await remote.write("a.jpg", String(repeating: "b", count: size))
        let summary = try await device.sync()
        #expect(summary.downloaded == 1, "\(summary) \(device.log.all)")
        #expect(mode(device.root + "/a.jpg") == 0o600)
    }

    @Test("a merge opens no file that its owner has closed")
    func merged() async throws {
        let (remote, device) = try await synced(["a.md"], mode: 0o600)
        device.write("a.md", "ONE\ntwo\nthree\nfour\nfive\n")
        try await remote.write("a.md", "one\ntwo\nthree\nfour\nFIVE\n")
        #expect(try await device.sync().merged == 1)
        #expect(device.read("a.md") == "ONE\ntwo\nthree\nfour\nFIVE\n" && mode(device.root + "/a.md") == 0o600)
    }

    @Test(
        "a conflict opens neither file when its owner has closed the one there was, nor does settling it",
        arguments: [ConflictSide.mine, .theirs])
    func conflict(side: ConflictSide) async throws {
        let (remote, device) = try await synced(["a.md"], mode: 0o600)
        device.write("a.md", "mine")
        try await remote.write("a.md", "theirs")
        #expect(try await device.sync().conflicts == 1)
        let conflict = try #require(try SyncEngine.conflicts(of: device.configuration, all: false).first)
        #expect(device.read("a.md") == "theirs" && mode(device.root + "/a.md") == 0o600)
        #expect(mode(device.root + "/" + conflict.copy) == 0o600)
        try SyncEngine.resolve(conflict, keeping: side, of: device.configuration)
        try await device.sync()
        #expect(mode(device.root + "/a.md") == 0o600)
    }

    @Test("what a sync replaced or removed, and what is on its way, is closed to other people of the machine")
    func privateArea() async throws {
        let (remote, device) = try await synced(["a.md"], mode: 0o644)
        #expect(mode(device.root + "/.byteclub") == 0o700)
        unsafe chmod(device.root + "/.byteclub", 0o755)
        try await remote.write("a.md", "of another")
        try await device.sync()
        #expect(mode(device.root + "/.byteclub") == 0o700 && !device.trash.isEmpty)
    }

    @Test("a group that a file cannot be given to gets nothing of it, and no more than the file had is given")
    func group() throws {
        let folder = try TemporaryDirectory(in: FastDisk.path)
        let file = try FileDescriptor.open(folder.path + "/a", O_RDWR | O_CREAT, mode: 0o600)
        let own = try file.status().group
        #expect(try file.setAccess(0o104640, group: own) && mode(folder.path + "/a") == 0o640)
        #expect(try !file.setAccess(0o100640, group: own))
        if geteuid() == 0 {
            #expect(try file.setAccess(0o100660, group: own + 1))
            #expect(try file.status().group == own + 1 && mode(folder.path + "/a") == 0o660)
        } else {
            #expect(try file.setAccess(0o100664, group: 0xFFFF_FFF0))
            #expect(mode(folder.path + "/a") == 0o604)
        }
    }
}

import ByteClubCore
import CLinux
import Glibc
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync

/// What must never be taken for a deletion.
@Suite struct GuardTests {
    private func filled(_ count: Int = 40) async throws -> (MemoryRemote, Device) {
        let remote = MemoryRemote()
        let device = try Device(remote, in: FastDisk.path)
        for number in 0..<count { device.write("note \(number).md", "text \(number)") }
        try await device.sync()
        device.log.clear()
        return (remote, device)
    }

    @Test("many local deletions are held, everything else flows, and a word lets them go")
    func manyLocal() async throws {
        let (remote, device) = try await filled()
        for number in 0..<30 { device.remove("note \(number).md") }
        device.write("note 35.md", "edited")
        let summary = try await device.sync()
        #expect(summary.held == 30 && summary.deletedRemote == 0 && summary.uploaded == 1 && !summary.isComplete)
        #expect(device.log.paths(.held).count == 30)
        #expect(try await remote.files().count == 40)
        #expect(try SyncEngine.status(of: device.configuration).held.count == 30)
        let forced = try await device.sync(forcing: true)
        #expect(forced.deletedRemote == 30 && forced.held == 0 && forced.isComplete)
        #expect(try await remote.files().count == 10)
        #expect(try SyncEngine.status(of: device.configuration).held.isEmpty)
    }

    @Test("what was deleted before the rest was held comes back from the server's history", arguments: [true, false])
    func goneBefore(usesExtension: Bool) async throws {
        let remote = MemoryRemote()
        let device = try Device(remote, in: FastDisk.path, usesExtension: usesExtension)
        for number in 0..<100 { device.write("d \(number / 50)/note \(number).md", "text \(number)") }
        device.makeFolder("empty")
        try await device.sync()
        let all = device.files()
        for number in 0..<19 { device.remove("d 0/note \(number).md") }
        device.remove("empty")
        #expect(try await device.sync().deletedRemote == 20)
        for number in 40..<80 { device.remove("d \(number / 50)/note \(number).md") }
        #expect(try await device.sync().held == 40)
        let restored = try SyncEngine.restoreDeletions(of: device.configuration)
        #expect(restored.count == 60 && restored.count { $0.isDone == true } == 20)
        #expect(try SyncEngine.restoreDeletions(of: device.configuration).isEmpty)
        // What somebody has put there meanwhile stays as it is.
        try await remote.write("d 0/note 0.md", "another")
        let summary = try await device.sync()
        #expect(summary.isComplete && summary.downloaded == 59)
        let files = device.files()
        #expect(try await remote.files() == files && files.count == all.count)
        #expect(files.filter { all[$0.key] != $0.value } == ["d 0/note 0.md": "another"])
    }

    /// A mirror of forty notes of which five are gone for good and twenty are held, and what was in it.
    private func restored(
        usesExtension: Bool = true, gone: [String] = (0..<5).map { "note \($0).md" },
        before prepare: (Device) async throws -> Void = { _ in }
    ) async throws -> (remote: MemoryRemote, device: Device, all: [String: String]) {
        let remote = MemoryRemote()
        let device = try Device(remote, in: FastDisk.path, usesExtension: usesExtension)
        for number in 0..<40 { device.write("note \(number).md", "text \(number)") }
        try await device.sync()
        try await prepare(device)
        let all = device.files()
        for name in gone { device.remove(name) }
        #expect(try await device.sync().held == 0)
        for number in 15..<35 { device.remove("note \(number).md") }
        #expect(try await device.sync().held == 20)
        _ = try SyncEngine.restoreDeletions(of: device.configuration)
        return (remote, device, all)
    }

    @Test("a file that was moved since it was written comes back with the text it had", arguments: [true, false])
    func movedBefore(usesExtension: Bool) async throws {
        let gone = ["moved 0.md", "moved 1.md", "new"]
        let (remote, device, all) = try await restored(usesExtension: usesExtension, gone: gone) { device in
            device.write("old/inner.md", "inner")
            // Another file had this path before.
            try await device.remote.write("moved 1.md", "another")
            try await device.remote.remove("moved 1.md")
            try await device.sync()
            for number in 0..<2 {
                unsafe rename(device.root + "/note \(number).md", device.root + "/moved \(number).md")
            }
            unsafe rename(device.root + "/old", device.root + "/new")
            try await device.sync()
        }
        #expect(try await device.sync().isComplete)
        #expect(device.files() == all)
        #expect(try await remote.files() == all)
    }

    @Test("an entry that the server does not bring back keeps nothing else from being synced")
    func notBroughtBack() async throws {
        for code in [RemoteError.Code.overQuota, .serverFault, .badRequest] {
            for isApproved in [false, true] {
                let (remote, device, all) = try await restored()
                remote.fault = { operation throws(RemoteError) in
                    guard operation.kind == .restore, operation.path?.name == "note 3.md" else { return }
                    throw RemoteError(code, "not now")
                }
                device.write("new.md", "new")
                for _ in 0..<2 {
                    device.log.clear()
                    let summary = try await device.sync()
                    #expect(!summary.isComplete && summary.problems == 1)
                    #expect(device.log.paths(.problem) == ["note 3.md"])
                    #expect(try await remote.files().count == 40 && device.files().count == 40)
                }
                if isApproved {
                    _ = try SyncEngine.approveDeletions(of: device.configuration)
                } else {
                    remote.fault = nil
                }
                #expect(try await device.sync().isComplete)
                let files = try await remote.files()
                #expect(files == device.files() && files["note 3.md"] == (isApproved ? nil : all["note 3.md"]))
                #expect(try SyncEngine.status(of: device.configuration).problems.isEmpty)
            }
        }
    }

    @Test("an emptied mirror empties nothing else, however small it was")
    func emptied() async throws {
        let (remote, device) = try await filled(3)
        for number in 0..<3 { device.remove("note \(number).md") }
        #expect(try await device.sync().held == 3)
        #expect(try await remote.files().count == 3)
        #expect(Self.remedies(device) == [true])
    }

    /// Whether those who are told of what is held are to put files back, one answer for each kind.
    private static func remedies(_ device: Device) -> Set<Bool> {
        Set(device.log.all.filter { $0.event == .held }.map { $0.message?.contains("put the files back") == true })
    }

    @Test("a server whose folder is gone empties no mirror")
    func serverEmptied() async throws {
        let (remote, device) = try await filled()
        _ = try await remote.delete(RemotePath("/byteclub"), ifUnchangedSince: nil)
        let summary = try await device.sync()
        #expect(summary.held == 40 && summary.deletedLocal == 0)
        #expect(device.files().count == 40)
        // All of them are here.
        #expect(Self.remedies(device) == [false])
    }

    @Test("a mirror that is gone is refused, and so is another directory in its place")
    func rootGone() async throws {
        let (remote, device) = try await filled(5)
        unsafe rename(device.root, device.root + ".away")
        let missing = await #expect(throws: SyncError.self) { try await device.sync() }
        #expect(missing?.code == .rootMissing)
        unsafe mkdir(device.root, 0o777)
        let replaced = await #expect(throws: SyncError.self) { try await device.sync() }
        #expect(replaced?.code == .rootReplaced)
        #expect(try await remote.files().count == 5)
        unsafe rmdir(device.root)
        unsafe rename(device.root + ".away", device.root)
        #expect(try await device.sync().isComplete)
        #expect(try await remote.files().count == 5)
    }

    @Test("a lost or damaged database deletes nothing: equal files are adopted by their hashes")
    func databaseLost() async throws {
        let (remote, device) = try await filled()
        device.remove("note 0.md")
        device.write("note 1.md", "edited")
        let path = device.state + "/mirror.sqlite"
        let file = unsafe open(path, O_WRONLY | O_TRUNC)
        _ = unsafe write(file, "this is no database, but it is long enough to look at", 53)
        close(file)
        for suffix in ["-wal", "-shm"] { unsafe unlink(path + suffix) }
        let summary = try await device.sync()
        #expect(summary.deletedRemote == 0 && summary.deletedLocal == 0 && summary.isComplete)
        #expect(summary.downloaded == 2 && summary.conflicts == 1)
        #expect(device.read("note 0.md") == "text 0")
        #expect(Set(device.files().values).contains("edited"))
        #expect(try await remote.files() == device.files())
        let names = TemporaryDirectoryNames.list(device.state)
        #expect(names.contains("mirror.sqlite.old"))
    }

    @Test("a server that was set back to an older state takes nothing away")
    func serverRestored() async throws {
        let (_, device) = try await filled(6)
        device.write("note 5.md", "newer")
        try await device.sync()
        // The same club from a backup: two notes were not there yet, one was older.
        let backup = MemoryRemote()
        for number in [0, 1, 2, 5] { try await backup.write("note \(number).md", "text \(number)") }
        let store = try SQLiteTreeStore(path: device.configuration.databasePath)
        try store.setMeta(.cursor, nil)
        try store.close()
        let engine = try SyncEngine(configuration: device.configuration, remote: backup)
        let summary = try await engine.runOnce { _ in }
        #expect(summary.deletedLocal == 0)
        #expect(device.read("note 3.md") == "text 3" && device.read("note 4.md") == "text 4")
        #expect(Set(device.files().values).contains("newer"))
        #expect(summary.held == 0 && summary.uploaded >= 2)
    }

    @Test("a listing from the start that lacks a really deleted file deletes it")
    func resetWithDeletion() async throws {
        let (remote, device) = try await filled(6)
        try await remote.remove("note 3.md")
        let store = try SQLiteTreeStore(path: device.configuration.databasePath)
        try store.setMeta(.cursor, nil)
        try store.close()
        let summary = try await device.sync()
        #expect(summary.deletedLocal == 1 && summary.held == 0 && summary.isComplete)
    }

    @Test("one mirror has one engine at a time")
    func alreadyRunning() async throws {
        let (_, device) = try await filled(1)
        let first = try #require(try MirrorLock(in: device.state))
        let error = await #expect(throws: SyncError.self) { try await device.sync() }
        #expect(error?.code == .alreadyRunning)
        withExtendedLifetime(first) {}
    }

    @Test("another path to a mirror is refused while the first has it, and takes nothing from it")
    func anotherPath() async throws {
        let (_, device) = try await filled(1)
        let control = try ControlDirectory(in: LinuxDisk(device.root).openRoot())
        #expect(try control.setLocked(true))
        // As through a bind mount: the same directory, and a state of its own.
        let other = SyncConfiguration(directory: device.root, stateDirectory: device.state + "-of-other")
        let engine = try SyncEngine(configuration: other, remote: device.remote)
        let marker = SyncEngine.marker(in: device.root)
        let error = await #expect(throws: SyncError.self) { try await engine.runOnce { _ in } }
        #expect(error?.code == .alreadyRunning && SyncEngine.marker(in: device.root) == marker)
        #expect(try control.setLocked(false))
        #expect(try await device.sync().isComplete)
    }

    @Test("a mirror is free when its engine has ended, also while a program that is just starting has its handles")
    func freeAtOnce() async throws {
        let (_, device) = try await filled(1)
        var lock = try MirrorLock(in: device.state)
        let copy = try #require(HandleCopy(path: device.state + "/lock"))
        #expect(lock != nil && device.configuration.isRunning)
        lock = nil
        #expect(!device.configuration.isRunning)
        #expect(try await device.sync().isComplete)
        withExtendedLifetime(copy) {}
    }

    @Test("a state directory inside of the mirror is refused")
    func stateInside() throws {
        let configuration = SyncConfiguration(directory: "/tmp/m", stateDirectory: "/tmp/x/../m/state")
        #expect(throws: SyncError.self) {
            _ = try SyncEngine(configuration: configuration, remote: MemoryRemote())
        }
    }
}

/// The names in a directory.
enum TemporaryDirectoryNames {
    static func list(_ path: String) -> [String] {
        (try? LinuxDisk(path).openRoot().list().map(\.name)) ?? []
    }
}

import ByteClubCore
import CLinux
import Glibc
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// What a verification finds, with the server's extension and without.
@Suite struct VerifyTests {
    private func synced(usesExtension: Bool) async throws -> (remote: MemoryRemote, device: Device) {
        let remote = MemoryRemote(pageSize: 5)
        let device = try Device(
            MemoryRemote(sharing: remote, author: 1), in: FastDisk.path, forces: true, usesExtension: usesExtension)
        for name in ["a.md", "d/b.md", "d/e/c.md", "f/g.md", "f/h.md", "i.md", "É.md"] {
            device.write(name, "text of \(name)")
        }
        try await device.sync()
        // What was written a moment ago is not trusted yet.
        try await Task.sleep(for: .milliseconds(100))
        #expect(try await device.sync().isComplete)
        return (remote, device)
    }

    private func verify(_ device: Device) async throws -> SyncVerification {
        try await device.engine().verify { _, _ in }
    }

    /// Changes a file's bytes so that nothing tells of it: as a disk does that loses them.
    private func rot(_ device: Device, _ path: String) throws {
        let opened = try SQLiteTreeStore.existing(path: device.configuration.databasePath, .writingExisting)
        let store = try #require(opened)
        device.write(path, String((device.read(path) ?? "").reversed()))
        var before = stat()
        #expect(unsafe stat(device.root + "/" + path, &before) == 0)
        usleep(100_000)
        let item = try #require(try store.items(at: path).first)
        var now = item
        now.local?.stat?.fingerprint.modified =
            Int64(before.st_mtim.tv_sec) * 1_000_000_000 + Int64(before.st_mtim.tv_nsec)
        now.local?.stat?.fingerprint.changed =
            Int64(before.st_ctim.tv_sec) * 1_000_000_000 + Int64(before.st_ctim.tv_nsec)
        now.local?.stat?.isRacy = false
        try store.save(now)
        try store.close()
    }

    @Test("a mirror that was synced agrees with its disk and its server", arguments: [true, false])
    func agrees(usesExtension: Bool) async throws {
        let (_, device) = try await synced(usesExtension: usesExtension)
        var reported: [(Int, Int64)] = []
        let result = try await device.engine().verify { reported.append(($0, $1)) }
        #expect(result.isAgreed && result.unsettled == 0 && result.differences.isEmpty)
        #expect(result.files == 7 && result.folders == 3)
        #expect(result.bytes == device.files().values.reduce(0) { $0 + Int64($1.utf8.count) })
        #expect(reported.last?.0 == 7 && reported.last?.1 == result.bytes)
    }

    @Test("what was written a moment before it was synced is compared as well", arguments: [true, false])
    func young(usesExtension: Bool) async throws {
        let (_, device) = try await synced(usesExtension: usesExtension)
        device.write("i.md", "text that is new")
        #expect(try await device.sync().isComplete)
        device.write("i.md", "text that is new")
        let result = try await verify(device)
        #expect(result.isAgreed && result.unsettled == 0 && result.files == 7)
        device.write("i.md", "text that nobody has synced")
        #expect(try await verify(device).unsettled == 1)
    }

    @Test("with digests one request proves the server's tree, however large it is")
    func oneRequest() async throws {
        let (_, device) = try await synced(usesExtension: true)
        let asked = Mutex<[MemoryOperation.Kind]>([])
        device.remote.fault = { operation in
            if operation.moment == .before { asked.withLock { $0.append(operation.kind) } }
        }
        #expect(try await verify(device).isAgreed)
        #expect(asked.withLock { $0 }.count { $0 == .digest } == 1)
        #expect(!asked.withLock { $0 }.contains(.delta))
    }

    @Test("bytes that the disk has lost are reported, and nothing is changed", arguments: [true, false])
    func rotten(usesExtension: Bool) async throws {
        let (remote, device) = try await synced(usesExtension: usesExtension)
        try rot(device, "d/b.md")
        let (before, stored) = (device.files(), try await remote.files())
        let result = try await verify(device)
        #expect(result.differences.map(\.path) == ["d/b.md"] && result.differences.map(\.kind) == [.disk])
        #expect(!result.isAgreed && result.files == 7)
        #expect(device.files() == before)
        #expect(try await remote.files() == stored)
    }

    @Test("what merely waits to be synced is counted and not compared", arguments: [true, false])
    func unsettled(usesExtension: Bool) async throws {
        let (remote, device) = try await synced(usesExtension: usesExtension)
        device.write("a.md", "edited")
        device.write("new.md", "new")
        device.remove("i.md")
        try await remote.write("f/g.md", "edited on the server")
        let result = try await verify(device)
        #expect(result.isAgreed && result.unsettled == 4 && result.files == 4)
        #expect(device.read("a.md") == "edited" && device.read("f/g.md") == "text of f/g.md")
    }

    @Test("a mirror that knows another tree than the server has is told path by path", arguments: [true, false])
    func server(usesExtension: Bool) async throws {
        let (_, device) = try await synced(usesExtension: usesExtension)
        // The mirror's own knowledge is bent, so that the server is another than it says.
        let opened = try SQLiteTreeStore.existing(path: device.configuration.databasePath, .writingExisting)
        let store = try #require(opened)
        func bend(_ path: String, _ change: (inout Item) -> Void) throws {
            var item = try #require(try store.items(at: path).first)
            change(&item)
            try store.save(item)
        }
        let other = ContentHasher.hash([1])
        try bend("a.md") { item in
            item.remote?.hash = other
            item.base?.hash = other
            item.local?.hash = other
        }
        try bend("f/h.md") { item in
            item.remote?.location.name = EntryName("k.md")
            item.base?.remoteName = EntryName("k.md")
        }
        try store.close()
        let result = try await verify(device)
        let found = result.differences.map { "\($0.path) \($0.kind.rawValue)" }.sorted()
        #expect(found == ["a.md disk", "a.md server", "f/h.md unknownOnServer", "f/k.md missingOnServer"])
    }

    @Test("a file that may not be read, and one that is being written, are reported")
    func unreadable() async throws {
        let (_, device) = try await synced(usesExtension: true)
        let file = unsafe open(device.root + "/i.md", O_WRONLY)
        defer { close(file) }
        let result = try await verify(device)
        #expect(result.differences.map(\.path) == ["i.md"] && result.differences.map(\.kind) == [.unreadable])
    }

    @Test("a verification that is cancelled ends, and leaves the mirror as it was")
    func cancelled() async throws {
        let (_, device) = try await synced(usesExtension: true)
        let engine = try device.engine()
        let task = Task { try await engine.verify { _, _ in while !Task.isCancelled { usleep(1_000) } } }
        task.cancel()
        let outcome = await task.result
        #expect(throws: SyncError.self) { try outcome.get() }
        #expect(try await device.sync().isComplete)
    }

    @Test("a dry run of a mirror that is not there yet shows nothing that others have put where all may write")
    func dryRunOfNothing() async throws {
        let planted = "/tmp/byteclub-nothing-\(getuid())"
        try LocalFiles.write("planted", to: planted + "/planted.md")
        defer { TemporaryDirectory.remove(planted) }
        let remote = MemoryRemote()
        try await remote.write("note.md", "note")
        let steps = try await Device(remote).engine().plan()
        #expect(steps.map(\.path) == ["note.md"])
    }

    @Test("what a sync would do is told without a folder being made")
    func dryRunMakesNothing() async throws {
        let (remote, device) = try await synced(usesExtension: true)
        for number in 0..<20 { try await remote.write("new \(number)/note.md", "\(number)") }
        let before = device.files()
        #expect(try await !device.engine().plan().isEmpty)
        #expect(try await verify(device).unsettled == 40)
        #expect(device.files() == before)
        try await device.sync()
        #expect(device.read("new 7/note.md") == "7")
    }
}

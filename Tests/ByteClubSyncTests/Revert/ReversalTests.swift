import ByteClubCore
import CLinux
import Glibc
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync

/// Changes of a mirror that are taken back.
@Suite struct ReversalTests {
    private static let files = [
        "a.md": "a", "b.md": "b", "c.md": "c", "dir/": "", "dir/d.md": "d", "dir/e.md": "e", "empty/": "",
    ]

    private let server = MemoryRemote()
    private let device: Device

    init() async throws {
        device = try Device(server, in: FastDisk.path, forces: true)
        for (path, text) in Self.files where !path.hasSuffix("/") { device.write(path, text) }
        device.makeFolder("empty")
        try await device.sync()
    }

    private func rename(_ old: String, _ new: String) {
        #expect(unsafe Glibc.rename(device.root + "/" + old, device.root + "/" + new) == 0)
    }

    /// Makes the member a viewer.
    private func allowNothing() {
        device.remote.fault = { call throws(RemoteError) in
            guard call.kind == .apply, call.moment == .before else { return }
            var error = RemoteError(.forbidden, "your role here is viewer")
            error.isOfRole = true
            throw error
        }
    }

    private func revert(_ path: String = "", isDryRun: Bool = false) throws -> [String] {
        try SyncEngine.revert(path, of: device.configuration, isDryRun: isDryRun)
            .map { "\($0.kind.rawValue) \($0.path)\($0.isFolder ? "/" : "")" + ($0.from.map { " from \($0)" } ?? "") }
    }

    /// Syncs, and checks that both sides are as they were.
    private func expectAsBefore() async throws {
        let summary = try await device.sync()
        #expect(summary.isComplete && summary.uploaded + summary.deletedRemote + summary.movedRemote == 0)
        #expect(summary.conflicts == 0)
        #expect(device.files() == Self.files)
        #expect(try await server.files() == Self.files)
    }

    @Test("what may be executed is taken back without touching the content")
    func executable() async throws {
        #expect(unsafe chmod(device.root + "/a.md", 0o755) == 0)
        #expect(try revert() == ["edited a.md"])
        #expect(device.trash.isEmpty)
        try await expectAsBefore()
        var status = stat()
        #expect(unsafe stat(device.root + "/a.md", &status) == 0 && status.st_mode & S_IXUSR == 0)
        #expect(try revert().isEmpty)
    }

    @Test("before a first sync nothing is taken back, since all would look new")
    func neverSynced() async throws {
        let other = try Device(server, in: FastDisk.path, forces: true)
        other.write("mine.md", "mine")
        #expect(throws: SyncError.self) { try SyncEngine.revert("", of: other.configuration, isDryRun: true) }
        #expect(throws: SyncError.self) { try SyncEngine.revert("", of: other.configuration, isDryRun: false) }
        #expect(other.files() == ["mine.md": "mine"] && other.trash.isEmpty)
    }

    @Test("every kind of change is taken back, nothing is lost, and the server is never asked to change anything")
    func all() async throws {
        device.write("a.md", "edited")
        device.remove("b.md")
        rename("c.md", "dir/moved.md")
        device.write("new.md", "new")
        device.write("folder/deep/n.md", "in a new folder")
        rename("dir/e.md", "e.md")
        device.write("e.md", "moved and edited")
        device.remove("empty")
        let expected = [
            "edited a.md", "deleted b.md", "moved dir/moved.md from c.md", "edited e.md from dir/e.md",
            "deleted empty/", "new folder/", "new new.md",
        ]
        let before = device.files()
        #expect(try revert(isDryRun: true) == expected)
        #expect(device.files() == before && device.trash.isEmpty)
        #expect(try revert() == expected)
        #expect(device.trash == ["edited", "in a new folder", "moved and edited", "new"])
        #expect(try revert().isEmpty, "what is to be downloaded is no change of this machine")
        try await expectAsBefore()
        #expect(device.trash == ["edited", "in a new folder", "moved and edited", "new"])
    }

    @Test("renamed folders go back with all that is in them, also when they were exchanged or lie in new ones")
    func folders() async throws {
        device.makeFolder("new")
        rename("dir", "new/dir")
        device.write("new/dir/d.md", "edited")
        device.write("new/own.md", "own")
        #expect(try revert() == ["new new/", "moved new/dir/ from dir", "edited new/dir/d.md from dir/d.md"])
        try await expectAsBefore()
        rename("dir", "other")
        rename("empty", "dir")
        rename("other", "empty")
        #expect(try revert() == ["moved dir/ from empty", "moved empty/ from dir"])
        try await expectAsBefore()
    }

    @Test("of a path only what is there is taken back")
    func part() async throws {
        device.write("a.md", "edited")
        device.write("dir/d.md", "edited too")
        rename("dir/e.md", "e.md")
        #expect(try revert("dir") == ["edited dir/d.md", "moved e.md from dir/e.md"])
        #expect(device.read("a.md") == "edited" && device.read("dir/e.md") == "e")
        try await device.sync()
        #expect(try await server.files() == Self.files.merging(["a.md": "edited"]) { $1 })
    }

    @Test("what the server has deleted goes with the edits that it was kept for")
    func deletedThere() async throws {
        try await server.remove("a.md")
        device.write("a.md", "edited")
        allowNothing()
        _ = try? await device.sync()
        device.remote.fault = nil
        #expect(try revert() == ["new a.md"])
        try await device.sync()
        #expect(device.read("a.md") == nil && device.trash == ["edited"])
        #expect(try await server.text("a.md") == nil)
    }

    @Test("what was held, or refused because of the role, is taken back, and status tells of it no more")
    func viewer() async throws {
        allowNothing()
        device.write("a.md", "edited")
        device.write("new.md", "new")
        device.remove("dir")
        await #expect(throws: SyncError.self) { try await device.sync() }
        let problems = try SyncEngine.status(of: device.configuration).problems
        #expect(problems.contains { $0.path == "new.md" && $0.message.contains("'byteclub sync revert'") })
        #expect(try revert().count == 5)
        #expect(try SyncEngine.status(of: device.configuration).problems.isEmpty)
        try await expectAsBefore()
    }

    @Test("a file that only looks changed stays where it is")
    func touched() async throws {
        device.setModified("a.md", 1_000_000_000)
        let handle = try LinuxDisk(device.root).openRoot().entry("a.md")?.stat.handle
        #expect(try revert().isEmpty)
        #expect(try LinuxDisk(device.root).openRoot().entry("a.md")?.stat.handle == handle)
    }

    @Test("while a sync runs nothing is taken back")
    func running() throws {
        let lock = try #require(try MirrorLock(in: device.state))
        device.write("a.md", "edited")
        #expect(throws: SyncError.self) { try revert() }
        #expect(device.read("a.md") == "edited")
        withExtendedLifetime(lock) {}
    }
}

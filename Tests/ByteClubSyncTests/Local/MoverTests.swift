import ByteClubCore
import Glibc
import MemoryRemote
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// Moves of folders that the disk renames as no whole.
@Suite struct MoverTests {
    /// Synced folders of an overlay's lower layer, which another member has renamed.
    private func renamed() async throws -> MachineScene {
        let scene = MachineScene()
        for folder in ["old", "old/in", "old/in/deep"] { scene.disk.makeFolder(folder) }
        for (path, text) in ["old/a.md": "a", "old/in/b.md": "b", "old/in/deep/c.md": "c", "z.md": "z"] {
            scene.disk.write(path, text)
        }
        try scene.settle()
        scene.disk.syncAll()
        _ = try await scene.server.move(RemotePath("/old"), to: RemotePath("/new"))
        return scene
    }

    @Test("a folder that cannot be renamed as a whole is moved by its parts")
    func byParts() async throws {
        let scene = try await renamed()
        scene.disk.failure = { [disk = scene.disk] call in
            guard call.verb == .rename, call.path.hasPrefix("old") else { return nil }
            return disk.kind(call.path) == .folder ? EXDEV : nil
        }
        try scene.settle()
        #expect(scene.files == ["new/a.md": "a", "new/in/b.md": "b", "new/in/deep/c.md": "c", "z.md": "z"])
        #expect(scene.disk.kind("old") == nil)
        #expect(
            try await scene.stored().keys.sorted() == [
                "new/", "new/a.md", "new/in/", "new/in/b.md", "new/in/deep/", "new/in/deep/c.md", "z.md",
            ])
        #expect(scene.machine.database.problems().isEmpty)
        // The others are not told of anything.
        var page = try await scene.server.delta(after: nil, prefix: .root)
        while page.hasMore { page = try await scene.server.delta(after: page.cursor, prefix: .root) }
        try scene.settle()
        #expect(try await scene.server.delta(after: page.cursor, prefix: .root).entries == [])
    }

    @Test("a folder of which a part cannot be moved either stays as it was, and that is told")
    func notEvenByParts() async throws {
        let scene = try await renamed()
        scene.disk.failure = { [disk = scene.disk] call in
            guard call.verb == .rename, call.path.hasPrefix("old") else { return nil }
            if disk.kind(call.path) == .folder { return EXDEV }
            return call.path == "old/in/b.md" ? EPERM : nil
        }
        _ = try scene.sync().get()
        #expect(scene.files == ["old/a.md": "a", "old/in/b.md": "b", "old/in/deep/c.md": "c", "z.md": "z"])
        #expect(scene.disk.kind("new") == nil)
        #expect(scene.machine.database.problems().count == 1)
        #expect(try await scene.stored()["new/in/b.md"] == "b")
        scene.disk.failure = nil
        try scene.settle()
        #expect(scene.files.keys.sorted() == ["new/a.md", "new/in/b.md", "new/in/deep/c.md", "z.md"])
    }
}

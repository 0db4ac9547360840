import ByteClubCore
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// Trees of any shape: wide, deep, with long names and many files in one folder.
@Suite struct TreeShapeTests {
    /// Below the number of folders of the wide trees here, which is small since a simulated disk searches its folders from
    /// their beginning.
    private static let descriptors = 256
    private static let folders = 400

    /// The paths of many folders with a folder in each, in which a note is.
    private static let wide = (0..<folders).flatMap { number in
        ["folder \(number)", "folder \(number)/inner", "folder \(number)/inner/note"]
    }

    /// A machine that may have few files and folders open at once, and hears of all entries at once.
    private func narrow() -> MachineScene {
        let scene = MachineScene(pageSize: 5_000)
        scene.disk.descriptors = Self.descriptors
        return scene
    }

    @Test("more folders with a folder in each than files may be open arrive, and are deleted, by one sync each")
    func wideDown() async throws {
        let scene = narrow()
        for number in 0..<Self.folders {
            _ = try await scene.server.createFolder(RemotePath("/folder \(number)"))
            _ = try await scene.server.createFolder(RemotePath("/folder \(number)/inner"))
            try await scene.put("folder \(number)/inner/note", "note \(number)")
        }
        #expect(try scene.sync().get() == SessionOutcome())
        #expect(Set(scene.disk.tree().map(\.path)) == Set(Self.wide))
        scene.wait()
        for number in 0..<Self.folders {
            _ = try await scene.server.delete(RemotePath("/folder \(number)/inner/note"), ifUnchangedSince: nil)
        }
        #expect(try scene.sync().get() == SessionOutcome())
        #expect(scene.disk.tree().allSatisfy { $0.content == nil })
        scene.wait()
        for number in 0..<Self.folders {
            _ = try await scene.server.delete(RemotePath("/folder \(number)"), ifUnchangedSince: nil)
        }
        #expect(try scene.sync().get() == SessionOutcome())
        #expect(scene.disk.tree().isEmpty)
        #expect(scene.disk.exhaustions == 0)
    }

    @Test("more folders with a folder in each than files may be open are sent, scanned again one by one and deleted")
    func wideUp() async throws {
        let scene = narrow()
        for number in 0..<Self.folders {
            scene.disk.makeFolder("folder \(number)")
            scene.disk.makeFolder("folder \(number)/inner")
            scene.disk.write("folder \(number)/inner/note", "note \(number)")
        }
        #expect(try scene.sync().get() == SessionOutcome())
        #expect(try await scene.stored().count == Self.wide.count)
        scene.wait()
        let context = try scene.context()
        let scanner = Scanner(root: context.root, store: context.store)
        for number in 0..<Self.folders { scene.disk.write("folder \(number)/inner/more", "\(number)") }
        let inner = try context.store.unsettled(after: nil, limit: 10)
        #expect(inner.isEmpty)
        let all = Set(scene.machine.database.trees.items.filter { $0.isFolder && $0.id != .root }.map(\.id))
        #expect(all.count == 2 * Self.folders)
        let report = try scanner.scan(.folders(all), confirmsDeletions: false)
        #expect(report.created == Self.folders && report.folders == all.count)
        for number in 0..<Self.folders { scene.disk.delete("folder \(number)") }
        scene.wait()
        #expect(try scene.sync().get() == SessionOutcome())
        #expect(try await scene.stored().isEmpty)
        #expect(scene.disk.exhaustions == 0)
    }

    @Test("a tree of 200 levels with several folders in each is sent, arrives and is scanned with few files open")
    func deep() async throws {
        let scene = narrow()
        var path = ""
        for level in 0..<200 {
            path = LocalPath.join(path, "\(level)")
            for name in [path, path + "a", path + "b"] { scene.disk.makeFolder(name) }
        }
        let longest = String(repeating: "n", count: NameRules.maximumBytes)
        scene.disk.write(path + "/" + longest, "the deepest")
        #expect(try scene.sync().get() == SessionOutcome())
        scene.wait()
        #expect(try scene.sync().get() == SessionOutcome())
        #expect(try await scene.stored().count == 601)
        let other = MachineScene(sharing: scene)
        other.disk.descriptors = Self.descriptors
        #expect(try other.sync().get() == SessionOutcome())
        #expect(other.disk.text(path + "/" + longest) == "the deepest")
        #expect(other.disk.tree().count == 601)
        // Known listings are compared many at a time.
        other.wait()
        #expect(try other.sync().get() == SessionOutcome())
        #expect(scene.disk.exhaustions == 0 && other.disk.exhaustions == 0)
    }

    @Test("5,000 files in one folder, names of 255 bytes and a tree of 200 levels are equal on two disks")
    func drives() async throws {
        let remote = MemoryRemote()
        let one = try Device(MemoryRemote(sharing: remote, author: 1), in: FastDisk.path, forces: true)
        let two = try Device(MemoryRemote(sharing: remote, author: 2), in: FastDisk.path, forces: true)
        for number in 0..<5_000 { one.write("full/\(number)", "\(number)") }
        // Letters of two bytes and of four.
        one.write("long/" + String(repeating: "ä", count: 127) + "x", "two")
        one.write("long/" + String(repeating: "🦋", count: 63) + "xyz", "four")
        let deep = (0..<200).map { "\($0)" }.joined(separator: "/")
        one.write(deep + "/note", "deep")
        try await one.sync()
        #expect(try await two.sync().isComplete)
        let there = two.files()
        #expect(there == one.files() && there.filter { !$0.key.hasSuffix("/") }.count == 5_003)
        one.remove("full")
        one.remove("0")
        try await one.sync()
        #expect(try await two.sync().isComplete)
        #expect(two.files() == one.files() && two.files().filter { !$0.key.hasSuffix("/") }.count == 2)
    }
}

import ByteClubCore
import Glibc
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// Moves of which the file system tells nothing: a copy, and then the end of the original.
@Suite struct RelocationTests {
    /// A tree of two folders with three files, no two contents alike.
    private func scene() throws -> ScanScene {
        let scene = try ScanScene()
        for folder in ["a", "a/b", "other"] { scene.disk.makeFolder(folder) }
        for file in ["a/x", "a/y", "a/b/z"] { scene.disk.write(file, "text of \(file)") }
        try scene.settle()
        return scene
    }

    private func move(_ path: String, to target: String, _ scene: ScanScene) {
        #expect(scene.disk.copy(path, to: target))
        #expect(scene.disk.delete(path))
    }

    @Test("a tree that was copied before the original was deleted keeps all its identities")
    func tree() throws {
        let scene = try scene()
        let before = try ["a", "a/x", "a/y", "a/b", "a/b/z"].map(scene.id)
        move("a", to: "other/c", scene)
        let report = try scene.scan()
        #expect(try ["other/c", "other/c/x", "other/c/y", "other/c/b", "other/c/b/z"].map(scene.id) == before)
        #expect(report.deleted == 0 && report.moved == 5 && report.vanished.isEmpty)
        #expect(try scene.store.items(handle: FileHandle(high: 0, low: 0)).isEmpty)
        // Only the folder itself is another than the server's.
        let unsettled = try scene.store.unsettled(after: nil, limit: 100)
        #expect(unsettled.map(\.id) == [before[0]])
        scene.wait()
        try scene.scan()
        let idle = try scene.scan()
        #expect(idle.changes == 0 && idle.listed == 0)
    }

    @Test("a copy that an earlier scan had found is the original once that has gone")
    func lateDeletion() throws {
        let scene = try scene()
        let before = try ["a", "a/x", "a/b/z"].map(scene.id)
        scene.disk.copy("a", to: "c")
        #expect(try scene.scan().created == 5)
        scene.disk.delete("a")
        #expect(try scene.scan().deleted == 0)
        #expect(try ["c", "c/x", "c/b/z"].map(scene.id) == before)
    }

    @Test("a copy of which the server has been told is an entry of its own")
    func sentCopy() throws {
        let scene = try scene()
        let before = try scene.id("a")
        scene.disk.copy("a", to: "c")
        try scene.scan()
        try scene.sync()
        scene.disk.delete("a")
        #expect(try scene.scan().deleted == 5)
        #expect(try scene.id("c") != before)
    }

    @Test("a file with the same content and another name in another folder is a new one")
    func nothingInCommon() throws {
        let scene = try scene()
        move("a/x", to: "other/new", scene)
        let report = try scene.scan()
        #expect(report.moved == 0 && report.deleted == 1)
    }

    @Test(
        "a file keeps its identity under a new name in its folder, and under its name in another",
        arguments: ["a/new", "other/x"])
    func single(target: String) throws {
        let scene = try scene()
        let id = try scene.id("a/x")
        move("a/x", to: target, scene)
        #expect(try scene.scan().deleted == 0)
        #expect(try scene.id(target) == id)
        #expect(try scene.item(target)?.local?.hash == ContentHasher.hash(Array("text of a/x".utf8)))
    }

    @Test("of two files that could be the one that vanished neither is")
    func ambiguous() throws {
        let scene = try scene()
        let id = try scene.id("a/x")
        scene.disk.copy("a/x", to: "other/x")
        scene.disk.copy("a/x", to: "a/b/x")
        scene.disk.delete("a/x")
        let report = try scene.scan()
        #expect(report.moved == 0 && report.deleted == 1)
        #expect(try scene.id("other/x") != id && scene.id("a/b/x") != id)
    }

    @Test("files that are alike are told apart by the folders in which they were")
    func alike() throws {
        let scene = try ScanScene()
        for folder in ["a", "b"] {
            scene.disk.makeFolder(folder)
            scene.disk.write(folder + "/license", "alike")
            for number in 0..<3 { scene.disk.write("\(folder)/\(number)", "\(folder) \(number)") }
        }
        try scene.settle()
        let before = try ["a", "b", "a/license", "b/license"].map(scene.id)
        move("a", to: "c", scene)
        move("b", to: "d", scene)
        #expect(try scene.scan().deleted == 0)
        #expect(try ["c", "d", "c/license", "d/license"].map(scene.id) == before)
    }

    @Test("a file that was edited in the copy is an edit of the one that was moved")
    func edited() throws {
        let scene = try scene()
        let before = try ["a", "a/x"].map(scene.id)
        move("a", to: "c", scene)
        scene.disk.write("c/x", "something else")
        try scene.scan()
        #expect(try ["c", "c/x"].map(scene.id) == before)
        #expect(try scene.item("c/x")?.local?.hash == nil)
    }

    @Test("a folder of which half has come elsewhere is that one, and what has not come is gone")
    func half() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("a")
        for number in 0..<4 { scene.disk.write("a/\(number)", "text \(number)") }
        try scene.settle()
        let (folder, lost) = (try scene.id("a"), try scene.id("a/3"))
        move("a", to: "c", scene)
        scene.disk.delete("c/2")
        scene.disk.delete("c/3")
        #expect(try scene.scan().deleted == 2)
        #expect(try scene.id("c") == folder)
        #expect(try scene.store.item(lost)?.local == nil)
    }

    @Test("a folder whose files were spread over two others is neither")
    func spread() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("a")
        for number in 0..<4 { scene.disk.write("a/\(number)", "text \(number)") }
        try scene.settle()
        let (folder, files) = (try scene.id("a"), try (0..<4).map { try scene.id("a/\($0)") })
        for (target, numbers) in [("c", 0..<2), ("d", 2..<4)] {
            scene.disk.makeFolder(target)
            for number in numbers { scene.disk.copy("a/\(number)", to: "\(target)/\(number)") }
        }
        scene.disk.delete("a")
        #expect(try scene.scan().deleted == 1)
        #expect(try scene.store.item(folder)?.local == nil)
        #expect(try ["c/0", "c/1", "d/2", "d/3"].map(scene.id) == files)
    }

    @Test("a folder whose files were moved into a new one is that one")
    func filesMovedIntoNewFolder() throws {
        let scene = try scene()
        let before = try ["a", "a/x", "a/b/z"].map(scene.id)
        scene.disk.makeFolder("c")
        for name in ["x", "y", "b"] { scene.disk.move("a/\(name)", to: "c/\(name)") }
        scene.disk.delete("a")
        try scene.scan()
        #expect(try ["c", "c/x", "c/b/z"].map(scene.id) == before)
        #expect(try scene.store.unsettledCount() == 1)
    }

    @Test("folders that were turned inside out stay a tree")
    func inverted() throws {
        let scene = try scene()
        scene.disk.makeFolder("n")
        scene.disk.makeFolder("n/m")
        scene.disk.copy("a/b/z", to: "n/z")
        for file in ["x", "y"] { scene.disk.copy("a/\(file)", to: "n/m/\(file)") }
        let before = try ["a", "a/b"].map(scene.id)
        scene.disk.delete("a")
        try scene.scan()
        #expect(try scene.tree() == ["n", "n/m", "n/m/x", "n/m/y", "n/z", "other"])
        #expect(try [scene.id("n/m"), scene.id("n")] == before)
    }

    @Test("no file is read when none of its length has vanished")
    func readsNothing() throws {
        let scene = try scene()
        scene.disk.delete("a/x")
        scene.disk.write("other/x", "a text of another length")
        var reads = 0
        scene.disk.before = { if $0.verb == .read { reads += 1 } }
        #expect(try scene.scan().deleted == 1)
        #expect(reads == 0)
    }

    @Test("a scan that was not complete takes nothing for moved")
    func incomplete() throws {
        let scene = try scene()
        let id = try scene.id("a/x")
        move("a/x", to: "other/x", scene)
        #expect(try scene.scan(confirmsDeletions: false).vanished == [id])
        #expect(try scene.id("other/x") != id)
    }

    @Test(
        "a thousand files that were copied and deleted are one move on the server and no upload",
        arguments: [true, false])
    func thousandFiles(usesExtension: Bool) async throws {
        let remote = MemoryRemote()
        let device = try Device(
            MemoryRemote(sharing: remote, author: 1), in: FastDisk.path, usesExtension: usesExtension)
        for number in 0..<1_000 { device.write("old/\(number / 100)/note \(number).md", "text \(number)") }
        try await device.sync()
        let command = "cp -r '\(device.root)/old' '\(device.root)/new' && rm -r '\(device.root)/old'"
        #expect(unsafe system(command) == 0)
        device.log.clear()
        let summary = try await device.sync()
        #expect(summary.uploaded == 0 && summary.deletedRemote == 0 && summary.deletedLocal == 0 && summary.isComplete)
        #expect(summary.movedRemote == 1)
        #expect(device.log.paths(.moveRemote) == ["new"])
        let stored = try await remote.files()
        #expect(stored.count == 1_011 && stored["new/3/note 345.md"] == "text 345")
        #expect(device.files() == stored)
    }
}

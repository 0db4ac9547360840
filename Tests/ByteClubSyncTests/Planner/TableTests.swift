import ByteClubCore
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync

/// The decision tables for none, edit, create and delete, carried out on a disk and a server.
@Suite struct TableTests {
    private static let files = ["a.md": "old", "b.md": "other", "c.md": "third"]

    /// Two devices that hold the same few files.
    private func pair(
        _ files: [String: String], _ usesExtension: Bool
    ) async throws
        -> (MemoryRemote, Device, Device)
    {
        let remote = MemoryRemote()
        let one = try Device(remote, usesExtension: usesExtension)
        let two = try Device(remote, usesExtension: usesExtension, member: "bo")
        try await one.sync()
        for (path, text) in files { one.write(path, text) }
        try await one.sync()
        try await two.sync()
        #expect(two.files() == one.files())
        one.log.clear()
        two.log.clear()
        return (remote, one, two)
    }

    @Test(
        "a first sync makes the mirror and sends what is in it, and a second one does nothing",
        arguments: [true, false])
    func first(usesExtension: Bool) async throws {
        let remote = MemoryRemote()
        let device = try Device(remote, usesExtension: usesExtension)
        device.write("trip.md", "# Trip")
        device.write("photos/ridge.jpg", String(repeating: "x", count: 100_000))
        let summary = try await device.sync()
        #expect(summary.uploaded == 2)
        #expect(summary.bytesUp == 100_006)
        #expect(summary.isComplete)
        #expect(try await remote.text("trip.md") == "# Trip")
        #expect(try await remote.files().keys.sorted() == ["photos/", "photos/ridge.jpg", "trip.md"])
        device.log.clear()
        let again = try await device.sync()
        #expect(again.uploaded == 0 && again.downloaded == 0 && again.isComplete)
        #expect(device.log.all.map(\.event) == [.summary])
    }

    @Test("an edit on one side arrives on the other, and the old text is in the trash", arguments: [true, false])
    func edit(usesExtension: Bool) async throws {
        let (remote, one, two) = try await pair(Self.files, usesExtension)
        one.write("a.md", "new text")
        #expect(try await one.sync().uploaded == 1)
        #expect(try await remote.text("a.md") == "new text")
        #expect(try await two.sync().downloaded == 1)
        #expect(two.read("a.md") == "new text")
        #expect(two.trash == ["old"])
        #expect(two.isStagingEmpty)
    }

    @Test("a file created on one side arrives on the other, folders and all", arguments: [true, false])
    func create(usesExtension: Bool) async throws {
        let (_, one, two) = try await pair(Self.files, usesExtension)
        one.write("deep/er/note.md", "hello")
        try await one.sync()
        try await two.sync()
        #expect(two.read("deep/er/note.md") == "hello")
        #expect(two.log.paths(.makeLocalFolder) == ["deep", "deep/er"])
    }

    @Test("a file deleted on one side goes into the trash on the other", arguments: [true, false])
    func delete(usesExtension: Bool) async throws {
        let (remote, one, two) = try await pair(Self.files, usesExtension)
        one.remove("a.md")
        #expect(try await one.sync().deletedRemote == 1)
        #expect(try await remote.text("a.md") == nil)
        #expect(try await two.sync().deletedLocal == 1)
        #expect(!two.exists("a.md"))
        #expect(two.trash == ["old"])
    }

    @Test("an edit wins over the other side's deletion, whichever side it is on", arguments: [true, false])
    func editAgainstDelete(usesExtension: Bool) async throws {
        let (remote, one, two) = try await pair(Self.files, usesExtension)
        one.write("a.md", "kept")
        one.remove("b.md")
        two.remove("a.md")
        two.write("b.md", "kept too")
        try await two.sync()
        try await one.sync()
        try await two.sync()
        #expect(try await remote.text("a.md") == "kept")
        #expect(try await remote.text("b.md") == "kept too")
        #expect(one.files() == two.files())
        #expect(one.read("b.md") == "kept too")
    }

    @Test("a deletion on both sides is forgotten without a word", arguments: [true, false])
    func deleteBoth(usesExtension: Bool) async throws {
        let (_, one, two) = try await pair(Self.files, usesExtension)
        one.remove("a.md")
        two.remove("a.md")
        try await one.sync()
        let summary = try await two.sync()
        #expect(summary.deletedLocal == 0 && summary.deletedRemote == 0 && summary.isComplete)
    }

    @Test("edits on both sides keep both texts, under the same names on every device", arguments: [true, false])
    func conflict(usesExtension: Bool) async throws {
        let (remote, one, two) = try await pair(Self.files, usesExtension)
        one.write("a.md", "from one")
        two.write("a.md", "from two")
        let time: Int64 = 1_790_000_000
        two.setModified("a.md", time)
        try await one.sync()
        let summary = try await two.sync()
        #expect(summary.conflicts == 1)
        try await one.sync()
        let copy = ConflictName.name(
            for: "a.md", ConflictStamp(author: "bo", time: time, offset: WallClock.offset(time)))
        #expect(one.read("a.md") == "from one")
        #expect(one.read(copy) == "from two")
        #expect(one.files() == two.files())
        #expect(try await remote.files() == two.files())
        let status = try SyncEngine.status(of: two.configuration)
        #expect(status.conflicts.map(\.copy) == [copy])
    }

    @Test("the same edit on both sides is no conflict", arguments: [true, false])
    func sameEdit(usesExtension: Bool) async throws {
        let (_, one, two) = try await pair(Self.files, usesExtension)
        one.write("a.md", "same")
        two.write("a.md", "same")
        try await one.sync()
        let summary = try await two.sync()
        #expect(summary.conflicts == 0 && summary.uploaded == 0 && summary.downloaded == 0 && summary.isComplete)
    }

    @Test("the same name created on both sides keeps both texts", arguments: [true, false])
    func createBoth(usesExtension: Bool) async throws {
        let (_, one, two) = try await pair(Self.files, usesExtension)
        one.write("new.md", "one's")
        two.write("new.md", "two's")
        try await one.sync()
        try await two.sync()
        try await one.sync()
        #expect(one.files() == two.files())
        #expect(Set(one.files().values).isSuperset(of: ["one's", "two's"]))
    }

    @Test(
        "a folder's deletion deletes it on the other side, but not a file that was edited in it",
        arguments: [true, false])
    func folderDelete(usesExtension: Bool) async throws {
        let (remote, one, two) = try await pair(
            ["f/a.md": "a", "f/b.md": "b", "g.md": "g", "h.md": "h"], usesExtension)
        one.remove("f")
        two.write("f/b.md", "edited")
        try await one.sync()
        #expect(try await remote.files().keys.sorted() == ["g.md", "h.md"])
        try await two.sync()
        try await one.sync()
        #expect(two.files() == ["f/": "", "f/b.md": "edited", "g.md": "g", "h.md": "h"])
        #expect(one.files() == two.files())
    }

    @Test("a folder in which a file was deleted before can be deleted too", arguments: [true, false])
    func folderDeleteAfterFileDelete(usesExtension: Bool) async throws {
        let (remote, one, two) = try await pair(
            ["f/a.md": "a", "f/b.md": "b", "g.md": "g", "h.md": "h"], usesExtension)
        two.remove("f/b.md")
        try await two.sync()
        try await one.sync()
        one.remove("f")
        let summary = try await one.sync()
        #expect(summary.isComplete)
        #expect(try await remote.files().keys.sorted() == ["g.md", "h.md"])
        try await two.sync()
        #expect(two.files() == one.files())
    }

    @Test("a file that becomes a folder, and a folder that becomes a file, arrive", arguments: [true, false])
    func typeChange(usesExtension: Bool) async throws {
        let (_, one, two) = try await pair(["x": "file", "y/in.md": "in", "z.md": "z", "w.md": "w"], usesExtension)
        one.remove("x")
        one.write("x/now.md", "folder now")
        one.remove("y")
        one.write("y", "file now")
        try await one.sync()
        try await two.sync()
        #expect(two.files() == ["x/": "", "x/now.md": "folder now", "y": "file now", "z.md": "z", "w.md": "w"])
        #expect(one.files() == two.files())
    }

    @Test("a file on one side and a folder on the other under one name both survive", arguments: [true, false])
    func clash(usesExtension: Bool) async throws {
        let (_, one, two) = try await pair(Self.files, usesExtension)
        one.write("n/in.md", "inside")
        two.write("n", "a file")
        try await one.sync()
        try await two.sync()
        try await one.sync()
        #expect(one.files() == two.files())
        #expect(Set(two.files().values).isSuperset(of: ["inside", "a file"]))
    }

    @Test(
        "a name that differs in case only is the same entry, and the disk keeps its own case", arguments: [true, false])
    func letterCase(usesExtension: Bool) async throws {
        let (remote, one, two) = try await pair(Self.files, usesExtension)
        try await remote.write("A.MD", "upper")
        try await one.sync()
        try await two.sync()
        #expect(one.read("a.md") == "upper")
        #expect(two.read("a.md") == "upper")
    }

    @Test("large files travel through staging, byte for byte", arguments: [true, false])
    func large(usesExtension: Bool) async throws {
        let (_, one, two) = try await pair(Self.files, usesExtension)
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        one.write("photos/big.jpg", bytes)
        try await one.sync()
        try await two.sync()
        #expect(two.log.paths(.download) == ["photos/big.jpg"])
        #expect(Fixture.bytes(at: two.root + "/photos/big.jpg") == bytes)
        #expect(two.isStagingEmpty)
    }

    @Test("a dry run tells the steps and changes neither side nor the state", arguments: [true, false])
    func dryRun(usesExtension: Bool) async throws {
        let (remote, one, _) = try await pair(Self.files, usesExtension)
        one.write("new.md", "new")
        one.remove("a.md")
        try await remote.write("b.md", "remote edit")
        let before = try await remote.files()
        let steps = try await one.engine().plan()
        #expect(steps.count == 3)
        #expect(try await remote.files() == before)
        #expect(one.read("b.md") == "other")
        let summary = try await one.sync()
        #expect(summary.uploaded == 1 && summary.downloaded == 1 && summary.deletedRemote == 1)
        let stranger = try Device(remote, usesExtension: usesExtension)
        #expect(try await stranger.engine().plan().count == 3)
        #expect(!stranger.exists(""))
    }
}

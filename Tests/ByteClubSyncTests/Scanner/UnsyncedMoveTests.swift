import ByteClubCore
import Glibc
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync

/// Synced entries that are renamed to names, or moved into folders, that are not synced.
@Suite struct UnsyncedMoveTests {
    private func synced() async throws -> (MemoryRemote, Device) {
        let remote = MemoryRemote()
        let device = try Device(remote, in: FastDisk.path)
        device.write(".byteclubignore", "/build/\n")
        for name in ["a.md", "b.md", "dir/c.md", "dir/in/d.md", "e.md"] { device.write(name, name) }
        try await device.sync()
        return (remote, device)
    }

    /// Renames an entry by the bytes of its names.
    private func rename(_ old: some Sequence<UInt8>, to new: some Sequence<UInt8>, on device: Device) {
        let path = { (name: [UInt8]) in (Array(device.root.utf8) + [0x2F] + name + [0]).map { CChar(bitPattern: $0) } }
        #expect(unsafe Glibc.rename(path(Array(old)), path(Array(new))) == 0)
    }

    static let names = [
        Array("blank.md ".utf8), Array("ba\\ck.md".utf8), Array("tab\t.md".utf8), Array("line\n.md".utf8),
        Array("latin-".utf8) + [0xE9], Array("a.md~".utf8), Array("~$a.md".utf8), Array(".ds_store".utf8),
    ]

    @Test(
        "a file that got a name that is not synced stays with the others, and another's deletion goes", arguments: names
    )
    func file(name: [UInt8]) async throws {
        let (remote, device) = try await synced()
        rename("a.md".utf8, to: name, on: device)
        device.remove("b.md")
        #expect(try await device.engine().plan().filter { $0.event == .held }.map(\.path) == ["a.md"])
        for round in 0..<2 {
            let summary = try await device.sync()
            #expect(!summary.isComplete && summary.held == 1 && summary.problems == 1)
            #expect(summary.deletedRemote == (round == 0 ? 1 : 0))
        }
        #expect(try await remote.text("a.md") == "a.md")
        #expect(try await remote.text("b.md") == nil)
        #expect(device.log.paths(.held).isEmpty, "its problem tells of it")
        let told = try #require(device.log.all.first { $0.event == .problem })
        #expect(told.path == String(decoding: name, as: UTF8.self))
        #expect(told.message?.contains("the former 'a.md' stays") == true)
        #expect(try SyncEngine.status(of: device.configuration).held.map(\.path) == ["a.md"])
        #expect(try SyncEngine.explain("a.md", of: device.configuration).first?.state == .blocked)
        rename(name, to: "mended.md".utf8, on: device)
        let summary = try await device.sync()
        #expect(summary.isComplete && summary.held == 0 && summary.problems == 0)
        #expect(summary.movedRemote == 1 && summary.deletedRemote == 0 && summary.uploaded == 0)
        #expect(try await remote.text("mended.md") == "a.md")
        #expect(try await remote.files() == device.files())
    }

    @Test("a folder that got a name that is not synced stays with all that is in it", arguments: names.prefix(5))
    func folder(name: [UInt8]) async throws {
        let (remote, device) = try await synced()
        rename("dir".utf8, to: name, on: device)
        let summary = try await device.sync()
        #expect(!summary.isComplete && summary.held == 4 && summary.problems == 1 && summary.deletedRemote == 0)
        #expect(try await remote.text("dir/in/d.md") == "dir/in/d.md")
        try await remote.write("dir/new.md", "another member's")
        rename(name, to: "new".utf8, on: device)
        #expect(try await device.sync().isComplete)
        #expect(try await remote.files() == device.files() && device.read("new/new.md") == "another member's")
    }

    @Test("what is moved into an ignored folder stays with the others until it is gone from there as well")
    func ignoredFolder() async throws {
        let (remote, device) = try await synced()
        device.write("build/deep/x", "never synced")
        rename("a.md".utf8, to: "build/deep/a.md".utf8, on: device)
        rename("dir".utf8, to: "build/dir".utf8, on: device)
        let summary = try await device.sync()
        #expect(!summary.isComplete && summary.held == 5 && summary.problems == 2 && summary.deletedRemote == 0)
        #expect(device.log.paths(.problem) == ["build/deep/a.md", "build/dir"])
        rename("build/dir".utf8, to: "dir".utf8, on: device)
        #expect(try await device.sync().held == 1)
        device.remove("build")
        let last = try await device.sync()
        #expect(last.isComplete && last.held == 0 && last.deletedRemote == 1)
        #expect(
            try await remote.files().keys.sorted() == [
                ".byteclubignore", "b.md", "dir/", "dir/c.md", "dir/in/", "dir/in/d.md", "e.md",
            ])
    }

    @Test("a folder is not taken away while a file of it is elsewhere under a name that is not synced")
    func fileOfDeletedFolder() async throws {
        let (remote, device) = try await synced()
        rename("dir/c.md".utf8, to: "c.md~".utf8, on: device)
        device.remove("dir")
        #expect(try await device.sync().deletedRemote == 0)
        #expect(try await remote.text("dir/c.md") == "dir/c.md")
        rename("c.md~".utf8, to: "c.md".utf8, on: device)
        #expect(try await device.sync().isComplete)
        #expect(try await remote.files() == device.files() && device.read("c.md") == "dir/c.md")
    }

    @Test("a person lets it go, or takes it back, as any held deletion", arguments: [true, false])
    func decided(isApproved: Bool) async throws {
        let (remote, device) = try await synced()
        rename("a.md".utf8, to: "a.md ".utf8, on: device)
        rename("dir".utf8, to: "build".utf8, on: device)
        #expect(try await device.sync().held == 5)
        let decided =
            try isApproved
            ? SyncEngine.approveDeletions(of: device.configuration)
            : SyncEngine.restoreDeletions(of: device.configuration)
        #expect(decided.map(\.path) == ["a.md", "dir"])
        for _ in 0..<2 {
            let summary = try await device.sync()
            #expect(summary.isComplete && summary.held == 0 && summary.problems == 1)
        }
        #expect(try await remote.text("a.md") == (isApproved ? nil : "a.md"))
        #expect(try await remote.text("dir/c.md") == (isApproved ? nil : "dir/c.md"))
        #expect(device.read("dir/c.md") == (isApproved ? nil : "dir/c.md"))
        #expect(device.read("a.md ") == "a.md" && device.read("build/c.md") == "dir/c.md")
    }

    @Test("with all deletions approved, it is deleted at once")
    func forced() async throws {
        let (remote, device) = try await synced()
        rename("a.md".utf8, to: "a.md ".utf8, on: device)
        #expect(try await device.sync().held == 1)
        #expect(try await device.sync(forcing: true).deletedRemote == 1)
        #expect(try await remote.text("a.md") == nil)
    }

    @Test("a file that was moved into a deselected folder is held for as long as it is there")
    func deselected() async throws {
        let (remote, device) = try await synced()
        try SyncEngine.deselect("off", of: device.configuration)
        device.write("off/1.md", "never synced")
        rename("a.md".utf8, to: "off/a.md".utf8, on: device)
        for _ in 0..<3 {
            let summary = try await device.sync()
            #expect(summary.held == 1 && summary.problems == 2 && summary.deletedRemote == 0)
            #expect(try SyncEngine.status(of: device.configuration).held.map(\.path) == ["a.md"])
        }
        rename("off/a.md".utf8, to: "back.md".utf8, on: device)
        let summary = try await device.sync()
        #expect(summary.held == 0 && summary.problems == 1 && summary.movedRemote == 1)
        #expect(try await remote.text("back.md") == "a.md")
        device.write("back.md", "edited")
        #expect(try await device.sync().uploaded == 1)
    }

    @Test("a backup under a name that is not synced is none of it when the name is written again")
    func backup() async throws {
        let (remote, device) = try await synced()
        rename("a.md".utf8, to: "a.md~".utf8, on: device)
        #expect(try await device.sync().held == 1)
        device.write("a.md", "edited")
        let summary = try await device.sync()
        #expect(summary.isComplete && summary.held == 0 && summary.uploaded == 1)
        #expect(try await remote.text("a.md") == "edited")
    }

    @Test("what is a link or a pipe now stays with the others")
    func otherKind() async throws {
        let (remote, device) = try await synced()
        for name in ["a.md", "b.md", "dir"] { device.remove(name) }
        unsafe symlink("e.md", device.root + "/a.md")
        unsafe mkfifo(device.root + "/b.md", 0o600)
        unsafe symlink("build", device.root + "/dir")
        let summary = try await device.sync()
        #expect(!summary.isComplete && summary.problems == 3 && summary.deletedRemote == 0)
        for name in ["a.md", "b.md", "dir/c.md"] { #expect(try await remote.text(name) == name) }
    }
}

import ByteClubCore
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync

/// Folders that are left out of a mirror by choice.
@Suite struct SelectionTests {
    private func synced() async throws -> (MemoryRemote, Device) {
        let remote = MemoryRemote()
        let device = try Device(remote, in: FastDisk.path)
        for name in ["a.md", "big/b.md", "big/in/c.md", "other/d.md"] { device.write(name, name) }
        try await device.sync()
        return (remote, device)
    }

    @Test("a folder that is left out goes from the disk and stays on the server, and comes back when it is selected")
    func leftOut() async throws {
        let (remote, device) = try await synced()
        try SyncEngine.deselect("Big", of: device.configuration)
        let summary = try await device.sync()
        #expect(summary.deletedRemote == 0 && summary.isComplete)
        #expect(device.files().keys.sorted() == ["a.md", "other/", "other/d.md"])
        try await remote.write("big/new.md", "of another member")
        #expect(try await device.sync().downloaded == 0)
        #expect(try await device.sync().deletedRemote == 0)
        #expect(try await remote.text("big/in/c.md") == "big/in/c.md")
        #expect(try SyncEngine.deselected(of: device.configuration) == ["big"])
        try SyncEngine.select("big", of: device.configuration)
        #expect(try await device.sync().downloaded == 3)
        #expect(try await remote.files() == device.files())
        #expect(device.read("big/new.md") == "of another member")
    }

    @Test("what was not sent yet is sent before its folder goes, and what is not synced at all stays")
    func unsent() async throws {
        let (remote, device) = try await synced()
        device.write(".byteclubignore", "*.tmp")
        device.write("big/mine.tmp", "never synced")
        device.write("big/b.md", "edited")
        device.write("big/new.md", "new")
        try SyncEngine.deselect("big", of: device.configuration)
        #expect(try await device.sync().isComplete)
        #expect(try await remote.text("big/b.md") == "edited")
        #expect(try await remote.text("big/new.md") == "new")
        #expect(device.files(below: "big") == ["mine.tmp": "never synced"])
        #expect(device.trash.sorted() == ["big/in/c.md", "edited", "new"])
        device.write("big/later.md", "written into a folder that is left out")
        #expect(try await device.sync().uploaded == 0)
        try SyncEngine.select("big", of: device.configuration)
        #expect(try await device.sync().isComplete)
        #expect(try await remote.text("big/later.md") == "written into a folder that is left out")
        #expect(device.read("big/b.md") == "edited")
        #expect(device.read("big/mine.tmp") == "never synced")
    }

    @Test(
        "a folder stays as long as something in it cannot be sent",
        arguments: [RemoteError(.unreachable, "away"), RemoteError(.forbidden, "only for reading")])
    func unsendable(refusal: RemoteError) async throws {
        let (remote, device) = try await synced()
        device.write("big/in/c.md", "edited")
        device.remote.fault = { call throws(RemoteError) in
            if call.kind == .apply || call.kind == .put { throw refusal }
        }
        try SyncEngine.deselect("big", of: device.configuration)
        _ = try? await device.sync()
        #expect(device.read("big/in/c.md") == "edited")
        #expect(device.read("big/b.md") == "big/b.md")
        device.remote.fault = nil
        #expect(try await device.sync().isComplete)
        #expect(!device.exists("big"))
        #expect(try await remote.text("big/in/c.md") == "edited")
    }

    @Test("files that are made in a folder that is left out are told once, counted and explained")
    func madeInLeftOut() async throws {
        let (remote, device) = try await synced()
        device.write(".byteclubignore", "*.tmp")
        try SyncEngine.deselect("Big", of: device.configuration)
        #expect(try await device.sync().isComplete)
        #expect(try await device.sync().problems == 0)
        device.write("big/new/c.md", "made here")
        device.write("big/new/x.tmp", "ignored")
        device.write("big/z.md", "made here as well")
        for _ in 0..<2 {
            device.log.clear()
            let summary = try await device.sync()
            #expect(summary.isComplete && summary.uploaded == 0 && summary.problems == 1)
            let told = device.log.all.filter { $0.event == .problem }
            #expect(told.map(\.path) == ["big/new/c.md"])
            #expect(told.first?.message?.contains("nor is another file: the folder 'big' is not selected") == true)
        }
        let status = try SyncEngine.status(of: device.configuration)
        #expect(status.problems.map(\.path) == ["big/new/c.md"])
        let why = try #require(try SyncEngine.explain("big/z.md", of: device.configuration).first)
        #expect(why.state == .excluded && why.disk?.size == 17 && why.server == nil)
        let verified = try await device.engine().verify { _, _ in }
        #expect(verified.isAgreed && verified.skipped == 1)
        device.remove("big")
        #expect(try await device.sync().problems == 0)
        try SyncEngine.select("big", of: device.configuration)
        #expect(try await device.sync().isComplete)
        #expect(try await remote.files() == device.files())
    }

    @Test("a folder above takes in what is in it, and one below is left out already")
    func nested() throws {
        var selection = Selection([PathKey(folded: "/a/b"), PathKey(folded: "/c")])
        let key = { (path: String) in PathKey(folded: path) }
        selection.leaveOut(key("/c/d"))
        #expect(selection.keys == [key("/a/b"), key("/c")])
        selection.leaveOut(key("/a"))
        #expect(selection.keys == [key("/a"), key("/c")])
        let taken = ["/a/b", "/a", "/c"].map { selection.takeIn(key($0)) }
        #expect(taken == [false, true, true])
        #expect(selection.keys.isEmpty)
    }
}

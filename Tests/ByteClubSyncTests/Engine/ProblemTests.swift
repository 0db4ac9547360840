import ByteClubCore
import CLinux
import Glibc
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// Things on disk that cannot be synced: each is told, and nothing else suffers.
@Suite struct ProblemTests {
    @Test("a file that was being written and is gone is not tried again")
    func goneWhileBusy() throws {
        let executor = SimulationExecutor(seed: 1)
        let machine = SimulatedMachine(
            0, SimulatedNetwork(MemoryRemote(), seed: 1), executor, usesExtension: true)
        func sync() throws -> [WaitingItem] {
            machine.disk.time += 10_000_000_000
            machine.uptime += .seconds(10)
            machine.sync()
            while machine.isSyncing, !executor.isIdle { executor.step() }
            _ = try #require(machine.lastOutcome).get()
            return machine.database.records(WaitingItem.self)
        }
        machine.disk.write("x", "half")
        let file = try #require(machine.disk.openForWriting("x"))
        #expect(try sync().count == 1)
        file.close()
        machine.disk.delete("x")
        #expect(try sync().isEmpty)
    }

    @Test("a disk that is full is one problem, however many files it has no room for, and all arrive when it has")
    func fullDisk() async throws {
        let scene = MachineScene()
        try scene.settle()
        for number in 0..<20 { try await scene.put("note \(number)", "text \(number)") }
        scene.disk.space = 1_000
        // The first is tried again later; each run plans those that do not wait.
        for _ in 0..<5 { try scene.sync() }
        scene.machine.database.reopen()
        #expect(scene.machine.database.problems().count == 1 && scene.files.isEmpty)
        scene.disk.write("mine", "mine")
        try scene.sync()
        #expect(try await scene.stored()["mine"] == "mine")
        scene.disk.space = 1 << 40
        try scene.settle()
        scene.machine.database.reopen()
        #expect(scene.machine.database.problems().isEmpty && scene.files.count == 21)
    }

    @Test("a problem that is over and comes back is told again, and one that stays is told once")
    func toldAgain() {
        let club = SimulatedClub()
        let machine = club.machines[0]
        let told = Mutex<[String]>([])
        machine.onEvent = { event in
            if event.event == .problem, let path = event.path { told.withLock { $0.append(path) } }
        }
        machine.start()
        club.pass(.seconds(3))
        machine.disk.makeOther("stays")
        machine.disk.makeOther("link")
        club.pass(.seconds(5))
        #expect(told.withLock { $0.sorted() } == ["link", "stays"])
        for _ in 0..<2 {
            machine.disk.delete("link")
            club.pass(.seconds(5))
            machine.disk.makeOther("link")
            club.pass(.seconds(5))
        }
        #expect(told.withLock { $0.sorted() } == ["link", "link", "link", "stays"])
    }

    private func synced() async throws -> (MemoryRemote, Device) {
        let remote = MemoryRemote()
        let device = try Device(remote, in: FastDisk.path)
        for name in ["a.md", "b.md", "dir/c.md"] { device.write(name, name) }
        try await device.sync()
        return (remote, device)
    }

    @Test("a link out of the mirror is never followed, sent or written through")
    func symbolicLink() async throws {
        let (remote, device) = try await synced()
        let outside = device.home.path + "/outside"
        unsafe mkdir(outside, 0o777)
        unsafe symlink(device.home.path + "/elsewhere", device.root + "/passwd")
        unsafe symlink(outside, device.root + "/way-out")
        try await remote.write("way-out/new.md", "must not land outside")
        let summary = try await device.sync()
        #expect(device.log.paths(.problem) == ["passwd", "way-out"])
        #expect(summary.problems == 2 && !summary.isComplete)
        #expect(try await remote.text("passwd") == nil)
        #expect(unsafe access(outside + "/new.md", F_OK) != 0)
        #expect(try await remote.text("way-out/new.md") == "must not land outside")
    }

    @Test("a large file whose name a link has is not downloaded for nothing, and arrives when the link is gone")
    func linkInPlaceOfLargeFile() async throws {
        let (remote, device) = try await synced()
        let text = String(repeating: "0123456789abcdef", count: 1 << 20)
        unsafe symlink(device.home.path + "/elsewhere", device.root + "/large")
        try await remote.write("large", text)
        for _ in 0..<2 {
            let summary = try await device.sync()
            #expect(summary.problems == 1 && summary.downloaded == 0 && !summary.isComplete)
        }
        device.remove("large")
        let summary = try await device.sync()
        #expect(summary.downloaded == 1 && summary.isComplete)
        #expect(device.read("large") == text)
    }

    @Test("nothing is fetched for a folder whose name a link has, and what is in it arrives when the link is gone")
    func linkInPlaceOfFolder() async throws {
        let (remote, device) = try await synced()
        let text = String(repeating: "0123456789abcdef", count: 1 << 20)
        let outside = device.home.path + "/outside"
        unsafe mkdir(outside, 0o777)
        unsafe close(creat(outside + "/kept", 0o666))
        unsafe symlink(outside, device.root + "/photos")
        try await remote.write("photos/large", text)
        try await remote.write("photos/inner/small", "small")
        let fetches = Mutex(0)
        device.remote.fault = { operation in
            if operation.kind == .content || operation.kind == .download { fetches.withLock { $0 += 1 } }
        }
        for _ in 0..<2 {
            let summary = try await device.sync()
            #expect(summary.problems == 1 && summary.downloaded == 0 && !summary.isComplete)
        }
        #expect(fetches.withLock { $0 } == 0)
        device.remove("photos")
        #expect(unsafe access(outside + "/kept", F_OK) == 0, "a link is removed, not what it points to")
        let summary = try await device.sync()
        #expect(summary.downloaded == 2 && summary.isComplete)
        #expect(device.read("photos/large") == text && device.read("photos/inner/small") == "small")
    }

    @Test("a rename to a name that a link has waits, and what is written under the old name is sent meanwhile")
    func renameToLink() async throws {
        let (remote, device) = try await synced()
        unsafe symlink(device.home.path + "/elsewhere", device.root + "/moved.md")
        _ = try await remote.move(RemotePath("/byteclub/a.md"), to: RemotePath("/byteclub/moved.md"))
        device.write("a.md", "edited")
        let summary = try await device.sync()
        #expect(summary.problems == 1 && summary.uploaded == 1)
        #expect(try await remote.text("moved.md") == "edited" && device.read("a.md") == "edited")
        device.remove("moved.md")
        #expect(try await device.sync().isComplete)
        #expect(device.read("moved.md") == "edited" && device.read("a.md") == nil)
    }

    @Test("what is wrong with an entry moves with its folder, and its old place is free")
    func movedFolder() async throws {
        let (remote, device) = try await synced()
        unsafe symlink(device.home.path + "/elsewhere", device.root + "/dir/link")
        #expect(try await device.sync().problems == 1)
        _ = try await remote.move(RemotePath("/byteclub/dir"), to: RemotePath("/byteclub/new"))
        try await remote.write("dir/link", "a file")
        #expect(try await device.sync().problems == 1)
        #expect(device.read("dir/link") == "a file" && device.log.paths(.problem).contains("new/link"))
        device.remove("new/link")
        #expect(try await device.sync().isComplete)
    }

    @Test("what is wrong with an entry is not forgotten when its folder gets the same name in other letters")
    func composedFolder() async throws {
        let (_, device) = try await synced()
        device.write("e\u{301}/inner/d.md", "d")
        unsafe symlink(device.home.path + "/elsewhere", device.root + "/e\u{301}/inner/link")
        #expect(try await device.sync().problems == 1)
        unsafe rename(device.root + "/e\u{301}", device.root + "/\u{E9}")
        for _ in 0..<2 {
            let summary = try await device.sync()
            #expect(summary.problems == 1 && summary.isComplete)
        }
        device.remove("\u{E9}/inner/link")
        #expect(try await device.sync().isComplete)
    }

    @Test("what is wrong with entries of a folder that is ignored from now on is forgotten")
    func ignoredFolder() async throws {
        let (_, device) = try await synced()
        device.write("dir/inner/d.md", "d")
        unsafe symlink(device.home.path + "/elsewhere", device.root + "/dir/inner/link")
        #expect(try await device.sync().problems == 1)
        device.write(".byteclubignore", "/dir/\n")
        let summary = try await device.sync()
        #expect(summary.problems == 0 && summary.isComplete)
    }

    @Test("what waits for the name of an entry whose new name a link has is not fetched for nothing")
    func nameOfBlockedMove() async throws {
        let (remote, device) = try await synced()
        unsafe symlink(device.home.path + "/elsewhere", device.root + "/moved.md")
        _ = try await remote.move(RemotePath("/byteclub/a.md"), to: RemotePath("/byteclub/moved.md"))
        try await remote.write("a.md", "another")
        try await device.sync()
        let fetched = Atomic(0)
        remote.fault = { call in
            if [.content, .download].contains(call.kind) { fetched.add(1, ordering: .relaxed) }
        }
        let summary = try await device.sync()
        remote.fault = nil
        #expect(summary.problems == 1 && fetched.load(ordering: .relaxed) == 0 && device.read("a.md") == "a.md")
        device.remove("moved.md")
        #expect(try await device.sync().isComplete)
        #expect(device.read("moved.md") == "a.md" && device.read("a.md") == "another")
    }

    @Test("a file beside an entry that cannot move, whose name is its in other letters, gets its edits")
    func twinOfBlockedMove() async throws {
        let (remote, device) = try await synced()
        unsafe symlink(device.home.path + "/elsewhere", device.root + "/moved.md")
        _ = try await remote.move(RemotePath("/byteclub/a.md"), to: RemotePath("/byteclub/moved.md"))
        try await device.sync()
        device.write("A.md", "twin")
        #expect(try await device.sync().uploaded == 1)
        try await remote.write("A.md", "edited")
        #expect(try await device.sync().downloaded == 1)
        #expect(device.read("A.md") == "edited" && device.read("a.md") == "a.md")
    }

    @Test("a folder that becomes a link is no deletion, and nothing is written through it")
    func folderBecomesLink() async throws {
        let (remote, device) = try await synced()
        unsafe rename(device.root + "/dir", device.home.path + "/moved")
        unsafe symlink(device.home.path + "/moved", device.root + "/dir")
        try await remote.write("dir/c.md", "remote edit")
        let summary = try await device.sync()
        #expect(summary.deletedRemote == 0 && summary.problems == 1)
        #expect(try await remote.text("dir/c.md") == "remote edit")
        #expect(
            try FileFingerprint(FileDescriptor.open(device.home.path + "/moved/c.md", O_RDONLY).status()).size == 8)
    }

    @Test("a file that becomes a pipe is no deletion, and the rest goes on")
    func pipe() async throws {
        let (remote, device) = try await synced()
        device.remove("a.md")
        unsafe mkfifo(device.root + "/a.md", 0o666)
        device.write("b.md", "edited")
        let summary = try await device.sync()
        #expect(summary.uploaded == 1 && summary.deletedRemote == 0 && summary.problems == 1)
        #expect(try await remote.text("a.md") == "a.md")
        device.remove("a.md")
        #expect(try await device.sync().deletedRemote == 1)
    }

    @Test("names that the server refuses, or that are no text, are reported and skipped")
    func names() async throws {
        let (remote, device) = try await synced()
        device.write("back\\slash.md", "1")
        device.write("blank ", "2")
        var raw = Array((device.root + "/").utf8CString.dropLast())
        raw += [CChar(bitPattern: 0xFF), CChar(bitPattern: 0xFE), 0]
        let file = unsafe creat(raw, 0o666)
        close(file)
        device.write("fine.md", "3")
        let summary = try await device.sync()
        #expect(summary.problems == 3 && summary.uploaded == 1)
        #expect(try await remote.files().count == 5)
    }

    @Test("what is of a kind that is never synced is told once in each sync, and keeps the two sides together")
    func neverSynced() async throws {
        let (_, device) = try await synced()
        unsafe symlink("a.md", device.root + "/link.md")
        unsafe mkfifo(device.root + "/dir/pipe", 0o666)
        for name in ["back\\slash.md", "line\nbreak.md", "blank "] { device.write(name, name) }
        let before = try #require(try SyncEngine.status(of: device.configuration).lastSync)
        try await Task.sleep(for: .milliseconds(1_100))
        for _ in 0..<2 {
            device.log.clear()
            let summary = try await device.sync()
            #expect(summary.isComplete && summary.problems == 5)
            #expect(
                device.log.paths(.problem) == ["back\\slash.md", "blank ", "dir/pipe", "line\nbreak.md", "link.md"])
        }
        let status = try SyncEngine.status(of: device.configuration)
        #expect(try status.problems.count == 5 && #require(status.lastSync) > before)
    }

    @Test("a folder that is a mirror of its own is told and left alone on both sides, until it is none")
    func mirrorInside() async throws {
        let (remote, device) = try await synced()
        device.write("inner/.byteclub/root", "another mirror's\n")
        device.write("inner/a.md", "a")
        for _ in 0..<2 {
            device.log.clear()
            let summary = try await device.sync()
            #expect(summary.isComplete && summary.uploaded == 0 && device.log.paths(.problem) == ["inner"])
        }
        device.write("dir/.byteclub/root", "another mirror's\n")
        device.write("dir/new.md", "new")
        device.remove("dir/c.md")
        try await remote.write("dir/d.md", "d")
        let summary = try await device.sync()
        #expect(!summary.isComplete && summary.uploaded + summary.downloaded + summary.deletedRemote == 0)
        #expect(try await remote.files().keys.sorted() == ["a.md", "b.md", "dir/", "dir/c.md", "dir/d.md"])
        for folder in ["dir", "inner"] { device.remove(folder + "/.byteclub") }
        let last = try await device.sync()
        #expect(last.isComplete && last.uploaded == 2 && last.downloaded == 1 && last.deletedRemote == 1)
        #expect(try await remote.files() == device.files())
    }

    @Test("a mirror's private folder that the server has is not synced, and keeps no other entry from it")
    func markerOnServer() async throws {
        let (remote, device) = try await synced()
        try await remote.write("dir/.byteclub/root", "another mirror's\n")
        device.write("dir/new.md", "new")
        #expect(try await device.sync().isComplete && !device.exists("dir/.byteclub"))
        // As a program has left it that did sync it.
        device.write("dir/.byteclub/root", "another mirror's\n")
        device.write("dir/newer.md", "newer")
        for _ in 0..<2 {
            let summary = try await device.sync()
            #expect(summary.isComplete && summary.problems == 0)
        }
        let files = try await remote.files()
        #expect(files["dir/new.md"] == "new" && files["dir/newer.md"] == "newer")
    }

    @Test("what the member's role does not allow is refused once, and fails the sync when all else is done")
    func role() async throws {
        let (remote, device) = try await synced()
        device.log.clear()
        for number in 0..<5 { device.write("\(number).md", "viewer's") }
        try await remote.write("b.md", "another's")
        device.remote.fault = { call throws(RemoteError) in
            guard call.kind == .apply, call.moment == .before else { return }
            var error = RemoteError(.forbidden, "your role here is viewer; ask an owner for the editor role")
            error.isOfRole = true
            throw error
        }
        let error = await #expect(throws: SyncError.self) { try await device.sync() }
        guard case .remote(let refusal)? = error?.code else {
            Issue.record("not the server's refusal: \(String(describing: error))")
            return
        }
        #expect(refusal.isOfRole && device.read("b.md") == "another's")
        #expect(device.log.paths(.problem) == (0..<5).map { "\($0).md" })
        device.log.clear()
        device.remote.fault = nil
        let summary = try await device.sync()
        #expect(summary.isComplete && summary.uploaded == 5)
        #expect(device.log.paths(.problem).isEmpty, "what was refused before is no problem once it is done")
    }

    @Test("a file that cannot be read keeps the sides apart, and is no problem in the sync that sends it")
    func unreadableFile() throws {
        let scene = try MachineScene.synced(["a.md": "a"])
        scene.disk.write("x.md", "x")
        scene.disk.lock("x.md")
        for _ in 0..<2 {
            scene.wait()
            _ = try scene.sync().get()
            #expect(scene.machine.database.problems().map(\.path) == ["x.md"])
        }
        scene.disk.lock("x.md", false)
        scene.wait()
        _ = try scene.sync().get()
        #expect(scene.machine.database.problems().isEmpty)
    }

    @Test("of two names that differ in case only, the newer one gets a conflict name, and both are synced")
    func twins() async throws {
        let (remote, device) = try await synced()
        device.write("A.md", "second")
        let summary = try await device.sync()
        #expect(summary.isComplete && summary.deletedRemote == 0)
        #expect(try await remote.text("a.md") == "a.md")
        let files = try await remote.files()
        #expect(files.filter { $0.value == "second" }.keys.allSatisfy { $0.hasPrefix("A (conflict ") })
        #expect(files.values.contains("second") && files == device.files())
    }

    @Test("an unreadable folder freezes what is below it and is no deletion", .enabled(if: getuid() != 0))
    func unreadableFolder() async throws {
        let (remote, device) = try await synced()
        unsafe chmod(device.root + "/dir", 0)
        defer { unsafe chmod(device.root + "/dir", 0o777) }
        let summary = try await device.sync()
        #expect(summary.problems == 1 && summary.deletedRemote == 0)
        #expect(try await remote.text("dir/c.md") == "dir/c.md")
    }

    @Test("a file that is being written is not sent before it is closed")
    func beingWritten() async throws {
        let (remote, device) = try await synced()
        device.write("busy.jpg", "half")
        let writer = unsafe open(device.root + "/busy.jpg", O_WRONLY | O_APPEND)
        let closing = Task {
            try await Task.sleep(for: .milliseconds(500))
            _ = unsafe write(writer, " whole", 6)
            close(writer)
        }
        let summary = try await device.sync()
        try await closing.value
        #expect(summary.isComplete)
        #expect(try await remote.text("busy.jpg") == "half whole")
        #expect(try await remote.revisions(of: RemotePath("/byteclub/busy.jpg"), limit: 5).count == 1)
    }

    @Test("ignored entries stay where they are on both sides, also when the rules change")
    func ignored() async throws {
        let (remote, device) = try await synced()
        device.write(".byteclubignore", "# mine\n*.tmp\n/build/\n!keep.tmp\n")
        device.write("x.tmp", "1")
        device.write("keep.tmp", "2")
        device.write("build/out", "3")
        device.write("dir/build", "4")
        try await remote.write("y.tmp", "remote's")
        #expect(try await device.sync().isComplete)
        #expect(
            try await remote.files().keys.sorted() == [
                ".byteclubignore", "a.md", "b.md", "dir/", "dir/build", "dir/c.md", "keep.tmp", "y.tmp",
            ])
        #expect(!device.exists("y.tmp"))
        device.write(".byteclubignore", "*.tmp\n*.md\n")
        device.remove("a.md")
        #expect(try await device.sync().deletedRemote == 0)
        #expect(try await remote.text("a.md") == "a.md")
        device.write(".byteclubignore", "")
        #expect(try await device.sync().isComplete)
        #expect(device.read("a.md") == "a.md")
        #expect(device.read("y.tmp") == "remote's")
        #expect(try await remote.files() == device.files())
    }

    @Test("an editor's swap file and backup stay here, and what the server has of them there, until a line says so")
    func temporaryFiles() async throws {
        let (remote, device) = try await synced()
        device.write(".a.md.swp", "nano's lock")
        device.write("a.md~", "old")
        try await remote.write("dir/.c.md.swp", "another member's, by an older program")
        let summary = try await device.sync()
        #expect(summary.isComplete && summary.uploaded == 0 && summary.downloaded == 0 && summary.deletedRemote == 0)
        #expect(summary.ignored == SyncStatus.Ignored(disk: 2, server: 1))
        #expect(try await remote.files().keys.sorted() == ["a.md", "b.md", "dir/", "dir/.c.md.swp", "dir/c.md"])
        device.write(".byteclubignore", "!*~\n")
        #expect(try await device.sync().isComplete)
        #expect(try await remote.text("a.md~") == "old")
        #expect(try await remote.text(".a.md.swp") == nil)
        #expect(!device.exists("dir/.c.md.swp"))
    }

    @Test("what an older program has synced of temporary files is deleted on neither side")
    func temporaryFilesOfOld() async throws {
        let (remote, device) = try await synced()
        device.write(".byteclubignore", "!*~\n")
        device.write("a.md~", "old")
        try await device.sync()
        let store = try SQLiteTreeStore(path: device.configuration.databasePath)
        // As a program leaves it that knows no temporary files: synced without a line about it.
        for key in [MetaKey.defaultRules, .rules] { try store.setMeta(key, nil) }
        try store.setMeta(.ignoreText, "")
        try store.close()
        device.remove(".byteclubignore")
        for _ in 0..<2 {
            let summary = try await device.sync()
            #expect(summary.isComplete && summary.deletedRemote <= 1 && summary.deletedLocal == 0)
            #expect(summary.ignored == SyncStatus.Ignored(disk: 1, server: 1))
        }
        #expect(try await remote.text("a.md~") == "old" && device.read("a.md~") == "old")
    }

    @Test("a folder with ignored files in it stays when its deletion arrives")
    func ignoredInDeleted() async throws {
        let (remote, device) = try await synced()
        device.write(".byteclubignore", "*.tmp")
        device.write("dir/mine.tmp", "mine")
        try await device.sync()
        try await remote.remove("dir")
        let summary = try await device.sync()
        #expect(summary.isComplete)
        #expect(!device.exists("dir/c.md"))
        #expect(device.read("dir/mine.tmp") == "mine")
        #expect(try await remote.files()["dir/"] == nil)
        try await device.sync()
        #expect(try await remote.files()["dir/"] == nil)
        device.write("dir/new.md", "new")
        try await device.sync()
        #expect(try await remote.text("dir/new.md") == "new")
    }
}

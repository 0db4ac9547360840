import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubSync

/// Engines that keep running.
@Suite(.serialized) struct ContinuousTests {
    @Test("edits made in one running mirror appear in the other at once")
    func latency() async throws {
        let remote = MemoryRemote()
        let one = try Device(MemoryRemote(sharing: remote, author: 1))
        let two = try Device(MemoryRemote(sharing: remote, author: 2))
        for number in 0..<50 { one.write("note \(number).md", "text") }
        let engines = [try one.engine(), try two.engine()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for engine in engines { group.addTask { try await engine.run() } }
            try await eventually("first sync") { two.files() == one.files() && two.files().count == 50 }
            var times: [Duration] = []
            for number in 0..<30 {
                let start = ContinuousClock.now
                one.write("note \(number).md", "edit \(number)")
                try await eventually("edit \(number)") { two.read("note \(number).md") == "edit \(number)" }
                times.append(ContinuousClock.now - start)
                try await Task.sleep(for: .milliseconds(20))
            }
            times.sort()
            print("edit to visible: median \(times[15]), slowest \(times[29])")
            two.write("deep/folder/note.md", "from two")
            try await eventually("new folder") { one.read("deep/folder/note.md") == "from two" }
            one.write("deep/folder/second.md", "into a new folder")
            try await eventually("file in it") { two.read("deep/folder/second.md") == "into a new folder" }
            one.remove("note 49.md")
            try await eventually("deletion") { !two.exists("note 49.md") }
            one.remove("deep")
            try await eventually("folder deletion") { !two.exists("deep") }
            group.cancelAll()
        }
        #expect(one.files() == two.files())
    }

    @Test("a running engine outlasts a server that is away, and a mirror that is taken away ends it")
    func outage() async throws {
        let remote = MemoryRemote()
        let device = try Device(MemoryRemote(sharing: remote, author: 1), in: FastDisk.path)
        device.write("a.md", "1")
        let engine = try device.engine()
        let running = Task { try await engine.run() }
        try await eventually("first sync") { try await remote.text("a.md") == "1" }
        device.remote.fault = { _ throws(RemoteError) in throw RemoteError(.unreachable, "away") }
        device.write("a.md", "2")
        for await event in engine.events where event.event == .problem { break }
        device.remote.fault = nil
        try await eventually("after the outage") { try await remote.text("a.md") == "2" }
        // At once: an engine that looks between two steps would find no mirror instead of another one.
        let home = try FileDescriptor.open(device.home.path, O_RDONLY | O_DIRECTORY)
        try home.makeDirectory("another")
        try home.rename("another", to: home, "mirror", byteclub_rename_exchange)
        device.write("b.md", "another mirror")
        try await remote.write("c.md", "wakes the engine")
        let error = await #expect(throws: SyncError.self) { try await running.value }
        #expect(error?.code == .rootReplaced)
        #expect(try await remote.text("a.md") == "2")
    }

    /// Runs a device's engine while something is done.
    private func running(
        _ device: Device, watching limit: Int = .max, _ work: () async throws -> Void
    ) async throws {
        let engine = try device.engine()
        let running = Task { try await engine.run(watching: limit) }
        try await work()
        running.cancel()
        try await running.value
    }

    @Test("without a single watch every change is found, and it is said how to raise the limit")
    func withoutWatches() async throws {
        let remote = MemoryRemote()
        let device = try Device(MemoryRemote(sharing: remote, author: 1), in: FastDisk.path)
        device.write("a.md", "1")
        device.write("dir/b.md", "1")
        try await running(device, watching: 0) {
            try await eventually("first sync") { try await remote.text("dir/b.md") == "1" }
            device.write("a.md", "2")
            device.write("new/deep/c.md", "3")
            try await eventually("edit") { try await remote.text("a.md") == "2" }
            try await eventually("new folder") { try await remote.text("new/deep/c.md") == "3" }
            device.write("new/deep/d.md", "4")
            try await eventually("file in it") { try await remote.text("new/deep/d.md") == "4" }
            device.remove("dir/b.md")
            try await eventually("deletion") { try await remote.text("dir/b.md") == nil }
            let reported = try device.configuration.read { store in try store.meta(.watching) }
            #expect(reported??.contains("sysctl fs.inotify.max_user_watches=65536") == true)
        }
        let reported = try device.configuration.read { store in try store.meta(.watching) }
        #expect(reported == .some(nil))
    }

    @Test("a folder that is moved in is sent whole, and what happens in it from then on is seen")
    func movedIn() async throws {
        let remote = MemoryRemote()
        let device = try Device(MemoryRemote(sharing: remote, author: 1), in: FastDisk.path)
        device.write("a.md", "1")
        try await running(device) {
            try await eventually("first sync") { try await remote.text("a.md") == "1" }
            let outside = device.home.path + "/outside"
            unsafe mkdir(outside, 0o777)
            unsafe mkdir(outside + "/in", 0o777)
            close(unsafe creat(outside + "/in/b.md", 0o666))
            unsafe rename(outside, device.root + "/inside")
            try await eventually("all of it") { try await remote.text("inside/in/b.md") == "" }
            device.write("inside/in/b.md", "2")
            device.write("inside/c.md", "3")
            try await eventually("edit in it") { try await remote.text("inside/in/b.md") == "2" }
            try await eventually("new file in it") { try await remote.text("inside/c.md") == "3" }
        }
    }

    @Test("a folder that is moved about while files are made in it loses none and is moved, not sent again")
    func renamedWhileInUse() async throws {
        let remote = MemoryRemote()
        let device = try Device(MemoryRemote(sharing: remote, author: 1), in: FastDisk.path)
        device.write("old/a.md", "1")
        device.makeFolder("elsewhere")
        try await running(device) {
            try await eventually("first sync") { try await remote.text("old/a.md") == "1" }
            var folder = "old"
            for number in 0..<60 {
                device.write("\(folder)/\(number).md", "\(number)")
                if number % 20 == 19 {
                    let next = number % 40 == 19 ? "elsewhere/\(number)" : "again"
                    unsafe rename(device.root + "/" + folder, device.root + "/" + next)
                    folder = next
                }
            }
            try await eventually("all files") { try await remote.files() == device.files() }
            #expect(device.files(below: folder).count == 61)
        }
        #expect(device.trash.isEmpty)
    }

    @Test("a file that somebody is writing is sent as soon as it is closed")
    func closed() async throws {
        let remote = MemoryRemote()
        let device = try Device(MemoryRemote(sharing: remote, author: 1), in: FastDisk.path)
        try await running(device) {
            device.write("a.md", "1")
            try await eventually("first sync") { try await remote.text("a.md") == "1" }
            let file = unsafe open(device.root + "/b.md", O_WRONLY | O_CREAT, 0o666)
            _ = unsafe write(file, "half", 4)
            device.write("c.md", "beside it")
            try await eventually("the file beside it") { try await remote.text("c.md") == "beside it" }
            #expect(try await remote.text("b.md") == nil)
            _ = unsafe write(file, " whole", 6)
            close(file)
            try await eventually("the closed file") { try await remote.text("b.md") == "half whole" }
        }
        #expect(try await remote.revisions(of: RemotePath("/byteclub/b.md"), limit: 5).count == 1)
    }

    @Test("an engine with nothing to do sleeps")
    func idle() async throws {
        let remote = MemoryRemote()
        let device = try Device(MemoryRemote(sharing: remote, author: 1), in: FastDisk.path)
        for number in 0..<50 { device.write("\(number % 7)/\(number).md", "\(number)") }
        let engine = try device.engine()
        let cycles = Mutex(0)
        let counting = Task {
            for await event in engine.events where event.event == .idle { cycles.withLock { $0 += 1 } }
        }
        let running = Task { try await engine.run() }
        try await eventually("first sync") { try await remote.files() == device.files() && device.files().count == 57 }
        // Fresh folders are scanned once more.
        try await Task.sleep(for: .seconds(3))
        let (before, used) = (cycles.withLock(\.self), Self.processorTime)
        try await Task.sleep(for: .seconds(5))
        let (after, usedNow) = (cycles.withLock(\.self), Self.processorTime)
        print("idle for 5 s: \(after - before) cycles, \(usedNow - used) of processor time in the whole process")
        // At most once a second.
        #expect(after - before <= 5)
        running.cancel()
        counting.cancel()
        try await running.value
    }

    private static var processorTime: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test("folders in a folder that came from the server are watched, and so is one that two members made")
    func foldersFromServer() async throws {
        let remote = MemoryRemote()
        let device = try Device(MemoryRemote(sharing: remote, author: 1), in: FastDisk.path)
        try await remote.write("top/in/a.md", "1")
        try await remote.write("both/b.md", "1")
        device.write("both/mine.md", "1")
        try await running(device) {
            try await eventually("first sync") {
                try await remote.files() == device.files() && device.exists("top/in/a.md")
            }
            device.write("top/in/a.md", "2")
            device.write("top/in/new.md", "2")
            device.write("both/mine.md", "2")
            try await eventually("edits") {
                let files = try await remote.files()
                return files["top/in/a.md"] == "2" && files["top/in/new.md"] == "2" && files["both/mine.md"] == "2"
            }
            try await remote.write("top/in/deeper/c.md", "3")
            try await eventually("a new one") { device.read("top/in/deeper/c.md") == "3" }
            device.write("top/in/deeper/c.md", "4")
            try await eventually("an edit in it") { try await remote.text("top/in/deeper/c.md") == "4" }
        }
    }

    @Test("a pause lasts until its time or a word, and nothing that happened meanwhile is missed")
    func pause() async throws {
        let remote = MemoryRemote()
        let device = try Device(MemoryRemote(sharing: remote, author: 1), in: FastDisk.path)
        device.write("a.md", "1")
        try await running(device) {
            try await eventually("first sync") { try await remote.text("a.md") == "1" }
            try SyncEngine.pause(device.configuration, for: nil)
            device.write("a.md", "2")
            try await Task.sleep(for: .milliseconds(300))
            #expect(try await remote.text("a.md") == "1")
            try SyncEngine.resume(device.configuration)
            try await eventually("after the word") { try await remote.text("a.md") == "2" }
            try SyncEngine.pause(device.configuration, for: .seconds(2))
            device.write("a.md", "3")
            try await eventually("after the time") { try await remote.text("a.md") == "3" }
        }
    }
}

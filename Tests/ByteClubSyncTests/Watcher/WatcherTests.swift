import CLinux
import Glibc
import TestSupport
import Testing

@testable import ByteClubSync

/// Watches, and what is planned because of what they tell.
@Suite struct WatcherTests {
    @Test("events that the system drops are told as anything may have changed", .timeLimit(.minutes(1)))
    func overflow() async throws {
        let home = try TemporaryDirectory(in: FastDisk.path)
        let gate = Gate()
        let changes = AsyncStream<DiskChange>.makeStream()
        let watcher = try Watcher(nudged: "/") { change in
            gate.wait()
            changes.continuation.yield(change)
        }
        defer { watcher.stop() }
        watcher.add(try LinuxDisk(home.path).openRoot(), .root, isNew: true)
        let text = String(decoding: Fixture.bytes(at: "/proc/sys/fs/inotify/max_queued_events"), as: UTF8.self)
        let limit = try #require(Int(text.prefix { $0.isNumber }))
        for number in 0..<(2 * limit) { close(unsafe creat(home.path + "/\(number % 2)", 0o666)) }
        gate.open()
        for await change in changes.stream where change.isLost { break }
    }

    @Test("a watcher of which the system tells nothing any more says so, and has all folders looked at")
    func deaf() async throws {
        let home = try TemporaryDirectory(in: FastDisk.path)
        let changes = AsyncStream<DiskChange>.makeStream()
        let watcher = try Watcher(nudged: "/") { changes.continuation.yield($0) }
        defer { watcher.stop() }
        watcher.add(try LinuxDisk(home.path).openRoot(), .root, isNew: true)
        #expect(watcher.problem == nil && watcher.unwatched(of: [.root]) == [])
        watcher.fail(ENOMEM)
        var told = changes.stream.makeAsyncIterator()
        #expect(await told.next() == DiskChange(isLost: true))
        #expect(watcher.unwatched(of: [.root]) == [.root])
        #expect(watcher.problem?.hasPrefix("the folders can no longer be watched") == true)
    }

    @Test("a file that is exchanged or saved is told by its name alone, and one that has gone by its folder")
    func names() async throws {
        let home = try TemporaryDirectory(in: FastDisk.path)
        let note = home.path + "/mirror/note"
        try LocalFiles.write("old", to: note)
        try LocalFiles.write("new", to: home.path + "/outside/new")
        let changes = AsyncStream<DiskChange>.makeStream()
        let watcher = try Watcher(nudged: "/") { changes.continuation.yield($0) }
        defer { watcher.stop() }
        watcher.add(try LinuxDisk(home.path + "/mirror").openRoot(), .root, isNew: true)
        var told = changes.stream.makeAsyncIterator()
        try LocalFiles.write("newer", to: note)
        #expect(await told.next() == DiskChange(closed: [.root: ["note"]]))
        let other = home.path + "/outside/new"
        #expect(unsafe byteclub_renameat2(AT_FDCWD, other, AT_FDCWD, note, byteclub_rename_exchange) == 0)
        #expect(await told.next() == DiskChange(closed: [.root: ["note"]]))
        #expect(unsafe rename(note, other) == 0)
        #expect(await told.next() == DiskChange(begun: [.root]))
    }

    @Test("a scan has the folders that somebody has changed, and not those that the engine asked for itself")
    func changedFolders() {
        let moment = { (seconds: Int) in SyncInstant(sinceStart: .seconds(seconds)) }
        var queue = RescanQueue()
        let (own, other, late) = (ItemID(1), ItemID(2), ItemID(3))
        queue.again([own, other], at: moment(1))
        queue.add([other], at: moment(1))
        queue.add([late], at: moment(5))
        queue.add([own: ["closed"]])
        #expect(queue.begin(.files([own: ["closed"]]), at: moment(2)).changed == [own], "a close is somebody's")
        #expect(queue.begin(.folders([own, other]), at: moment(2)).changed == [other])
        queue.again([other], at: moment(3))
        queue.addRacy([own: ["racy"]], at: moment(3))
        #expect(queue.begin(.files([own: ["racy"]]), at: moment(3)).changed == [])
        #expect(queue.begin(.everything(confirmsDeletions: false), at: moment(4)).changed == [])
        #expect(queue.begin(.everything(confirmsDeletions: false), at: moment(5)).changed == [late])
        #expect(queue.begin(.folders([late]), at: moment(6)).changed == [])
    }

    @Test("racy files are scanned again by themselves, and the folder instead of very many")
    func racyFiles() {
        let moment = { (seconds: Int) in SyncInstant(sinceStart: .seconds(seconds)) }
        var queue = RescanQueue()
        let next = { (queue: RescanQueue, seconds: Int) in queue.next(at: moment(seconds), isSettling: false) }
        queue.addRacy([.root: ["a"]], at: moment(3))
        queue.addRacy([.root: ["b"]], at: moment(4))
        #expect(queue.deadline == moment(3) && next(queue, 2) == nil)
        queue.add([.root: ["b"]])
        #expect(next(queue, 2) == .files([.root: ["b"]]))
        queue.begin(.files([.root: ["b"]]), at: moment(2))
        #expect(queue.deadline == moment(3) && next(queue, 3) == .files([.root: ["a"]]))
        queue.begin(.files([.root: ["a"]]), at: moment(3))
        #expect(queue.deadline == nil && next(queue, 9) == nil)
        queue.addRacy([.root: Set((0..<1_000).map { EntryName("\($0)") })], at: moment(5))
        #expect(next(queue, 5) == .folders([.root]))
    }

    @Test("two names that differ in their composition alone are two files to scan")
    func compositions() {
        var queue = RescanQueue()
        let names = ["\u{e9}", "e\u{301}"].map { EntryName($0) }
        for name in names { queue.add([.root: [name]]) }
        let now = SyncInstant(sinceStart: .zero)
        #expect(queue.next(at: now, isSettling: false) == .files([.root: Set(names)]))
        #expect(Set(names).count == 2)
    }

    @Test("a queue gives what is due, the earliest scan first, and puts racy folders off while they change")
    func queue() {
        let moment = { (seconds: Int) in SyncInstant(sinceStart: .seconds(seconds)) }
        var queue = RescanQueue()
        let next = { (queue: RescanQueue, seconds: Int) in queue.next(at: moment(seconds), isSettling: false) }
        #expect(queue.deadline == nil && next(queue, 0) == nil)
        queue.add([ItemID(1), ItemID(2)], at: moment(5))
        queue.add([ItemID(1)], at: moment(3))
        queue.add([ItemID(1)], at: moment(9))
        queue.addRacy([ItemID(3)], at: moment(4))
        queue.addRacy([ItemID(3)], at: moment(7))
        #expect(next(queue, 2) == nil)
        #expect(next(queue, 3) == .folders([ItemID(1)]))
        #expect(queue.begin(.folders([ItemID(1)]), at: moment(3)).again == [])
        #expect(queue.deadline == moment(5))
        #expect(next(queue, 8) == .folders([ItemID(2), ItemID(3)]))
        #expect(queue.begin(.folders([ItemID(2), ItemID(3)]), at: moment(8)).again == [ItemID(3)])
        #expect(queue.deadline == nil)
        queue.add([ItemID(1): ["a"]])
        #expect(next(queue, 9) == .files([ItemID(1): ["a"]]))
        queue.begin(.files([ItemID(1): ["a"]]), at: moment(9))
        queue.putBack(.files([ItemID(1): ["a"]]), at: moment(10))
        #expect(next(queue, 9) == nil && next(queue, 10) == .folders([ItemID(1)]))
        queue.addEverything(at: moment(10))
        #expect(next(queue, 10) == .everything(confirmsDeletions: true))
    }

    @Test("what is missing is looked for everywhere, and not for ever")
    func missing() {
        let moment = { (seconds: Int) in SyncInstant(sinceStart: .seconds(seconds)) }
        var queue = RescanQueue()
        queue.end(.folders([.root]), vanished: [ItemID(1)], at: moment(1))
        queue.end(.folders([ItemID(7)]), vanished: [], at: moment(1))
        #expect(queue.missing == [ItemID(1)])
        #expect(queue.next(at: moment(1), isSettling: true) == nil)
        let everything = ScanRequest.everything(confirmsDeletions: true)
        #expect(queue.next(at: moment(1), isSettling: false) == everything)
        for _ in 0..<3 { queue.end(everything, vanished: [ItemID(1)], at: moment(2)) }
        #expect(queue.next(at: moment(3), isSettling: false) == nil)
        queue.end(everything, vanished: [], at: moment(4))
        #expect(queue.missing.isEmpty && queue.missingDeadline == nil)
    }

    @Test("while all folders are watched, everything is scanned again an interval after the last time")
    func periodic() {
        let moment = { (seconds: Int) in SyncInstant(sinceStart: .seconds(seconds)) }
        var (scans, queue) = (PeriodicScans(every: .seconds(300)), RescanQueue())
        scans.note(.folders([.root]), unwatched: [], lasting: .seconds(1))
        scans.plan(&queue, at: moment(1))
        #expect(queue.deadline == nil)
        for time in [2, 400] {
            scans.note(.everything(confirmsDeletions: true), unwatched: [], lasting: .seconds(1))
            scans.plan(&queue, at: moment(time))
            #expect(queue.deadline == moment(time + 300))
            queue.begin(.everything(confirmsDeletions: true), at: moment(time + 300))
        }
    }

    @Test("looking without watches gets rarer while nothing changes, and never takes more than a fiftieth of the time")
    func pace() {
        var pace = PollingPace()
        #expect(pace.afterEverything(foundChanges: true, lasting: .zero) == .seconds(2))
        #expect(pace.afterEverything(foundChanges: false, lasting: .zero) == .seconds(4))
        for _ in 0..<9 { _ = pace.afterEverything(foundChanges: false, lasting: .zero) }
        #expect(pace.afterEverything(foundChanges: false, lasting: .zero) == .seconds(10))
        #expect(pace.afterEverything(foundChanges: true, lasting: .seconds(3)) == .seconds(150))
        let start = SyncInstant(sinceStart: .zero)
        #expect(pace.hotFolders(adding: [ItemID(1)], start) == [ItemID(1)])
        #expect(pace.hotFolders(adding: [ItemID(2)], start + .seconds(30)) == [ItemID(1), ItemID(2)])
        #expect(pace.hotFolders(adding: [], start + .seconds(70)) == [ItemID(2)])
    }
}

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ByteClubSync

/// Watches, and what is planned because of what they tell.
@Suite struct WatcherTests {
    @Test("events that the system drops are told as anything may have changed", .timeLimit(.minutes(1)))
    func overflow() async throws {
        let home = try TemporaryDirectory(in: FastDisk.path)
        let gate = Gate()
        let changes = AsyncStream<Watcher.Change>.makeStream()
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

    @Test("an agenda gives what is due, the earliest look first, and puts second looks off while a folder changes")
    func agenda() {
        let start = ContinuousClock.now
        let moment = { (seconds: Int) in start + .seconds(seconds) }
        var agenda = Agenda()
        #expect(agenda.next == nil && agenda.take(start) == nil)
        agenda.look(at: [ItemID(1), ItemID(2)], moment(5))
        agenda.look(at: [ItemID(1)], moment(3))
        agenda.look(at: [ItemID(1)], moment(9))
        agenda.lookAgain(at: [ItemID(3)], moment(4))
        agenda.lookAgain(at: [ItemID(3)], moment(7))
        #expect(agenda.take(moment(2)) == nil)
        #expect(agenda.take(moment(3)) == Agenda.Reasons(folders: [ItemID(1)]))
        #expect(agenda.next == moment(5))
        #expect(agenda.take(moment(8)) == Agenda.Reasons(folders: [ItemID(2)], secondLooks: [ItemID(3)]))
        #expect(agenda.next == nil)
        agenda.wake(moment(9))
        #expect(agenda.take(moment(9)) == Agenda.Reasons())
        agenda.putBack(Agenda.Reasons(folders: [ItemID(1)], secondLooks: [ItemID(2)], isEverything: true), moment(10))
        #expect(
            agenda.take(moment(10)) == Agenda.Reasons(folders: [ItemID(1), ItemID(2)], isEverything: true))
    }

    @Test("looking without watches gets rarer while nothing changes, and never takes more than a fiftieth of the time")
    func pace() {
        var pace = PollingPace()
        #expect(pace.afterEverything(foundChanges: true, lasting: .zero) == .seconds(2))
        #expect(pace.afterEverything(foundChanges: false, lasting: .zero) == .seconds(4))
        for _ in 0..<9 { _ = pace.afterEverything(foundChanges: false, lasting: .zero) }
        #expect(pace.afterEverything(foundChanges: false, lasting: .zero) == .seconds(10))
        #expect(pace.afterEverything(foundChanges: true, lasting: .seconds(3)) == .seconds(150))
        let start = ContinuousClock.now
        #expect(pace.hotFolders(adding: [ItemID(1)], start) == [ItemID(1)])
        #expect(pace.hotFolders(adding: [ItemID(2)], start + .seconds(30)) == [ItemID(1), ItemID(2)])
        #expect(pace.hotFolders(adding: [], start + .seconds(70)) == [ItemID(2)])
    }
}

/// Holds a thread until it is opened.
private final class Gate: Sendable {
    private let isOpen = Mutex(false)

    func wait() { while !isOpen.withLock({ $0 }) { usleep(1_000) } }
    func open() { isOpen.withLock { $0 = true } }
}

import ByteClubCore
import FoundationEssentials
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite struct ActivityLineTests {
    private static let style = TextStyle(calendar: { CalendarTime.utc($0) })

    private static func line(_ activity: MirrorActivity, _ columns: Int = 100) -> String {
        ActivityLine.text(activity, columns: columns, style)
    }

    private static func status(files: Int, pending: Int = 0, conflicts: Int = 0, held: Int = 0) -> SyncStatus {
        var status = SyncStatus()
        status.files = files
        status.pending = pending
        status.conflicts = (0..<conflicts).map { .init(path: "\($0)", copy: "", at: 0) }
        status.held = (0..<held).map { .init(path: "\($0)", side: "local", since: 0) }
        return status
    }

    /// A sync that has sent 12 and got 3 of 340 entries, with a photo on its way.
    private static var busy: MirrorActivity {
        var activity = MirrorActivity(now: 0)
        for number in 1...12 {
            activity.take(SyncEvent(.upload, path: "\(number)", bytes: 1 << 20), now: Double(number))
        }
        for number in 1...3 { activity.take(SyncEvent(.download, path: "\(number)", bytes: 10), now: 12) }
        activity.take(status(files: 100, pending: 325))
        activity.take(SyncEvent(.progress, path: "photos/ridge.jpg", bytes: 45, total: 100), now: 12)
        return activity
    }

    @Test("a line loses what matters least as it narrows")
    func narrowing() throws {
        var activity = Self.busy
        activity.take(SyncEvent(.conflict, path: "plan.md"), now: 12)
        let frames = [100, 72, 60, 50, 40, 30, 20, 12, 4, 1].map { "\($0)|" + Self.line(activity, $0) }
        try Golden.check(frames.joined(separator: "\n") + "\n", "activity-narrowing.txt")
    }

    @Test("no line is as wide as the terminal, and none has a control character", arguments: 1...120)
    func width(_ columns: Int) {
        var activity = Self.busy
        activity.take(SyncEvent(.progress, path: "ридж 山の写真 \u{1B}[31m.jpg", bytes: 1, total: 2), now: 12)
        let line = Self.line(activity, columns)
        #expect(DisplayWidth.of(line) < columns)
        #expect(!line.unicodeScalars.contains("\u{1B}"))
    }

    @Test("what a mirror goes through, from its first look to the last")
    func frames() throws {
        var activity = MirrorActivity(now: 0)
        var frames = [Self.line(activity)]
        let take = { (event: SyncEvent, now: Double) in
            activity.take(event, now: now)
            frames.append(Self.line(activity))
        }
        take(SyncEvent(.makeRemoteFolder, path: "Trips"), 0)
        take(SyncEvent(.upload, path: "Trips/a.md", bytes: 2_000), 1)
        activity.take(Self.status(files: 1, pending: 9))
        take(SyncEvent(.download, path: "b.md", bytes: 2_000), 2)
        take(SyncEvent(.progress, path: "photos/ridge.jpg", bytes: 0, total: 4 << 20), 2)
        take(SyncEvent(.progress, path: "photos/ridge.jpg", bytes: 2 << 20, total: 4 << 20), 4)
        take(SyncEvent(.progress, path: "photos/lake.jpg", bytes: 0, total: 4 << 20), 4)
        take(SyncEvent(.upload, path: "photos/ridge.jpg", bytes: 4 << 20), 6)
        take(SyncEvent(.idle, summary: SyncSummary()), 6)
        take(SyncEvent(.upload, path: "photos/lake.jpg", bytes: 4 << 20), 8)
        take(SyncEvent(.idle, summary: SyncSummary()), 8)
        activity.take(Self.status(files: 12_345))
        frames.append(Self.line(activity))
        take(SyncEvent(.problem, message: "cannot connect (http://club.example)", until: 3_723), 9)
        take(SyncEvent(.paused), 10)
        take(SyncEvent(.paused, until: 86_400), 10)
        take(SyncEvent(.paused, cause: .metered), 10)
        var summary = SyncSummary()
        (summary.held, summary.problems) = (30, 1)
        take(SyncEvent(.idle, summary: summary), 11)
        activity.take(Self.status(files: 1, pending: 31, conflicts: 2, held: 1))
        frames.append(Self.line(activity))
        try Golden.check(frames.joined(separator: "\n") + "\n", "activity-frames.txt")
    }

    @Test("a transfer that was given up is forgotten, and one that goes on is not")
    func givenUp() {
        var activity = MirrorActivity(now: 0)
        activity.take(SyncEvent(.progress, path: "a.jpg", bytes: 1, total: 9), now: 0)
        activity.take(SyncEvent(.idle, summary: SyncSummary()), now: 5)
        #expect(activity.transfers.count == 1 && activity.phase == .working)
        activity.take(SyncEvent(.idle, summary: SyncSummary()), now: 50)
        #expect(activity.transfers.isEmpty && activity.phase == .watching)
        activity.take(SyncEvent(.progress, path: "a.jpg", bytes: 1, total: 9), now: 51)
        activity.take(SyncEvent(.problem, path: "a.jpg", message: "it is gone"), now: 52)
        #expect(activity.transfers.isEmpty)
    }

    @Test(
        "numbers are grouped by thousands",
        arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")])
    func grouped(_ number: Int, _ text: String) {
        #expect(ActivityLine.grouped(number) == text)
    }
}

@Suite struct LiveStatusTests {
    private static let tty = Terminal(
        isInputTerminal: true, isOutputTerminal: true, isErrorTerminal: true, columns: { 60 })

    private final class Clock: Sendable {
        private let value = Mutex(Duration.zero)
        var now: Duration { value.withLock { $0 } }
        func set(_ seconds: Double) { value.withLock { $0 = .seconds(seconds) } }
    }

    @Test("a thousand changes are drawn ten times a second, each line is there once, and nothing stays behind")
    func live() throws {
        let world = try World()
        let clock = Clock()
        var context = world.context(terminal: Self.tty)
        context.uptime = { clock.now }
        let live = LiveStatus(context) { nil }
        for step in 1...1_000 {
            clock.set(Double(step) / 1_000)
            live.take(SyncEvent(.upload, path: "\(step).md", bytes: 1), line: "uploaded \(step).md")
        }
        let frames = world.err.components(separatedBy: "↑").count - 1
        #expect((1...11).contains(frames), "\(frames)")
        try live.end()
        let screen = TerminalScreen(world.err)
        #expect(screen.lines == (1...1_000).map { "uploaded \($0).md" } + [""])
        #expect(!world.err.contains("\u{1B}") && world.out.isEmpty)
    }

    @Test("on a terminal sync prints its lines and leaves none of its own; where no terminal is, it draws nothing")
    func command() async throws {
        let world = try World()
        try await world.put("hello", "/byteclub/trip.md")
        let mirror = world.home.path + "/club"
        #expect(await world.run("sync", mirror, "--once", in: world.context(terminal: Self.tty)) == .success)
        #expect(TerminalScreen(world.err).lines == ["downloaded trip.md", "byteclub: in sync: 1 downloaded", ""])
        #expect(world.err.contains("comparing both sides") && world.out.isEmpty)
        #expect(await world.run("sync", mirror, "--once", "--json", in: world.context(terminal: Self.tty)) == .success)
        #expect(world.err.isEmpty)
        #expect(await world.run("sync", mirror, "--once") == .success)
        #expect(world.err == "byteclub: in sync: nothing to do\n")
    }

    @Test("the line goes on with the sync also where the changes are JSON")
    func json() throws {
        let world = try World()
        let clock = Clock()
        var context = world.context(terminal: Self.tty)
        context.uptime = { clock.now }
        let printer = SyncPrinter(context: context, json: true, progress: .always) { nil }
        clock.set(1)
        printer.take(SyncEvent(.upload, path: "a.md", bytes: 1))
        #expect(world.err.contains("↑"), "\(world.err)")
        try printer.finish(nil)
        #expect(TerminalScreen(world.err).lines == [""] && world.out.contains(#""event":"upload""#))
    }

    @Test("what is in the way is told once where no terminal is, and that it works again")
    func trouble() throws {
        let world = try World()
        let printer = SyncPrinter(context: world.context(), json: false)
        for until in [10, 20, 40] { printer.take(SyncEvent(.problem, message: "cannot connect", until: Int64(until))) }
        printer.take(SyncEvent(.idle, summary: SyncSummary()))
        printer.take(SyncEvent(.idle, summary: SyncSummary()))
        #expect(world.err == "byteclub: cannot connect; retrying\nbyteclub: connected again\n")
    }
}

import ByteClubCore
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite struct ProgressReporterTests {
    private static let tty = Terminal(
        isInputTerminal: true, isOutputTerminal: true, isErrorTerminal: true, columns: { 60 })

    private struct Scene {
        let world: World
        let reporter: ProgressReporter
        let clock: Clock
        /// The effect of signals.
        let asked: Asked

        /// A moment later, so many bytes are there and so many more were sent.
        func update(at seconds: Double, _ completed: Int64, sent: Int64 = 0, of total: Int64? = nil) {
            clock.set(seconds)
            reporter.update(TransferProgress(completed: completed, inFlight: sent, total: total))
        }

        var lines: [String] { world.err.split(separator: "\n").map(String.init) }
    }

    private func make(
        _ display: ProgressMode.Display, _ environment: [String: String] = [:], columns: Int = 60
    ) throws -> Scene {
        let world = try World()
        let (clock, asked) = (Clock(), Asked())
        asked.columns.withLock { $0 = columns }
        var context = world.context(environment, terminal: Self.tty)
        context.terminal.columns = { asked.columns.withLock { $0 } }
        context.uptime = { clock.now }
        context.now = { 1_375_780_500 }
        context.statusSignals = asked.signals
        context = context.withStatusLine()
        return Scene(
            world: world, reporter: ProgressReporter(context, display: display, .upload), clock: clock, asked: asked)
    }

    private final class Clock: Sendable {
        private let value = Mutex(Duration.zero)
        var now: Duration { value.withLock { $0 } }
        func set(_ seconds: Double) { value.withLock { $0 = .seconds(seconds) } }
    }

    /// Signals that a test sends, and the width of its terminal.
    private final class Asked: Sendable {
        let columns = Mutex(60)
        private let listener = Mutex<(@Sendable (StatusSignals.Signal) -> Void)?>(nil)
        var signals: StatusSignals {
            StatusSignals(listen: { onSignal in
                self.listener.withLock { $0 = onSignal }
                return { self.listener.withLock { $0 = nil } }
            })
        }
        func send(_ signal: StatusSignals.Signal) { listener.withLock { $0 }?(signal) }
    }

    @Test("a terminal's line is drawn at most ten times a second, only when it changed, and leaves nothing behind")
    func live() throws {
        let scene = try make(.live)
        scene.reporter.start("a.jpg", total: 1000)
        for step in 1...1000 { scene.update(at: Double(step) / 1000, Int64(step), of: 1000) }
        let drawn = scene.world.err.count { $0 == "\r" }
        #expect((5...11).contains(drawn))
        for step in 1...100 {
            scene.clock.set(1 + Double(step) / 50)
            scene.reporter.tick()
        }
        #expect(scene.world.err.count { $0 == "\r" } <= drawn + 1)
        scene.reporter.finish()
        #expect(scene.world.err.hasSuffix(" \r"))
        #expect(!scene.world.err.contains("\n") && !scene.world.err.contains("\u{1B}"))
        #expect(scene.world.out.isEmpty)
    }

    @Test("what is printed meanwhile scrolls above the line, results as well as notes")
    func above() throws {
        let scene = try make(.live)
        var context = scene.world.context(terminal: Self.tty)
        context.uptime = { .seconds(1) }
        context = context.withStatusLine()
        let reporter = ProgressReporter(context, display: .live, .upload)
        reporter.start("a-long-name-of-a-photo.jpg", total: 1000)
        context.note("hm")
        try context.output.line("/byteclub/photos/b.jpg")
        let screen = TerminalScreen(scene.world.err)
        #expect(screen.lines.first == "byteclub: hm" && screen.lines.last?.hasPrefix("a-long") == true)
        #expect(scene.world.out == "/byteclub/photos/b.jpg\n")
        reporter.finish()
        #expect(TerminalScreen(scene.world.err).lines == ["byteclub: hm", ""])
    }

    @Test("a log gets a line at the start, every thirty seconds, after each transfer and in the end")
    func log() throws {
        let scene = try make(.log)
        let reporter = scene.reporter
        reporter.plan(2, total: 105)
        reporter.start("small.jpg", place: (1, 2), total: 10)
        scene.update(at: 0.9, 10)
        reporter.finish()
        reporter.start("a.jpg", place: (2, 2), total: 95)
        for second in 1...95 { scene.update(at: Double(second), Int64(second)) }
        reporter.finish()
        reporter.finishAll()
        reporter.finishAll()
        let lines = scene.lines
        #expect(
            lines.count == 7 && lines[0] == "uploading 2 photos, 105 bytes"
                && lines[1] == "uploaded small.jpg, 10 bytes in 1s"
                && lines[2].hasPrefix("[2/2] a.jpg   39%  41 of 105 bytes  ")
                && lines[3].contains(" 67%") && lines[4].contains(" 96%")
                && lines[5] == "uploaded a.jpg, 95 bytes in 1m34s"
                && lines[6] == "uploaded 2 photos, 105 bytes in 1m35s", "\(lines)")
        #expect(!scene.world.err.contains("\r") && !scene.world.err.contains("\u{1B}"))
    }

    @Test("a log of one transfer ends with the line of that one, and one that fails has no such line")
    func shortLog() throws {
        let scene = try make(.log)
        scene.reporter.start("a.jpg", total: 10)
        scene.reporter.finish()
        scene.reporter.finishAll()
        #expect(scene.lines == ["uploaded a.jpg, 10 bytes in 1s"])
        let other = try make(.log)
        other.reporter.start("a.jpg", total: 10)
        other.reporter.fail()
        other.reporter.finishAll()
        #expect(other.lines.isEmpty)
        let slow = try make(.log)
        slow.reporter.start("a.jpg", total: 10)
        for second in 1...29 { slow.update(at: Double(second), 0, sent: Int64(second % 10)) }
        slow.reporter.fail()
        slow.reporter.finishAll()
        #expect(slow.lines == ["uploading a.jpg, 10 bytes"])
        let silent = try make(.log)
        silent.reporter.fail()
        silent.reporter.finishAll()
        #expect(silent.lines.isEmpty)
    }

    @Test("events are one JSON object a line, once a second at most, and end in exactly one summary")
    func events() throws {
        let scene = try make(.events)
        let reporter = scene.reporter
        reporter.plan(2)
        reporter.start("a.jpg", path: "/byteclub/photos/a.jpg", total: 100, from: 20)
        for step in 1...30 { scene.update(at: Double(step) / 10, 20, sent: Int64(step)) }
        scene.update(at: 3.1, 100)
        reporter.finish()
        reporter.start("b.jpg", total: 7)
        reporter.fail()
        reporter.finishAll()
        reporter.finishAll()
        try Golden.check(scene.world.err, "progress-events.txt")
        #expect(scene.lines.count { $0.contains("\"summary\"") } == 1 && scene.lines.last?.contains("summary") == true)
    }

    @Test("a stall is told on a terminal while nothing moves, and bytes that are only sent are no stall")
    func stall() throws {
        let scene = try make(.live)
        scene.reporter.start("a.jpg", total: 1000)
        scene.update(at: 1, 10)
        scene.update(at: 6, 10, sent: 5)
        #expect(!scene.world.err.contains("stalled"))
        scene.clock.set(18)
        scene.reporter.tick()
        #expect(scene.world.err.contains("stalled 12s"))
    }

    @Test("what was sent counts, but is not all before the server has said so")
    func acknowledged() throws {
        let scene = try make(.log)
        scene.reporter.start("a.jpg", total: 8 << 20)
        scene.update(at: 31, 0, sent: 1 << 20)
        #expect(scene.lines.last?.contains(" 12%  1.0 of 8.0 MiB") == true, "\(scene.lines)")
        scene.update(at: 62, 0, sent: 8 << 20)
        #expect(scene.lines.last?.contains(" 99%  8.0 of 8.0 MiB") == true, "\(scene.lines)")
    }

    /// The frames on a terminal: the percent, and the whole frame.
    private static func frames(_ text: String) -> [(percent: Int, line: String)] {
        text.split(separator: "\r").compactMap { frame in
            guard let mark = frame.firstIndex(of: "%") else { return nil }
            let digits = frame[..<mark].reversed().prefix { $0.isNumber }.reversed()
            return Int(String(digits)).map { ($0, String(frame)) }
        }
    }

    @Test("of several photos the line tells all bytes, never goes back, is true at half time, and a sum follows")
    func several() throws {
        let scene = try make(.live, columns: 80)
        let photo: Int64 = 3 << 20
        scene.reporter.plan(20, total: 20 * photo)
        var half = 0
        for number in 1...20 {
            scene.reporter.start("a panorama with a long name \(number).jpg", place: (number, 20), total: photo)
            for step in 1...30 {
                let sent = Int64(step) * photo / 30
                let acknowledged = sent / (1 << 20) << 20
                let time = Double((number - 1) * 30 + step) / 10
                // Once, sent bytes are lost.
                let isLost = number == 7 && (11...14).contains(step)
                scene.update(at: time, acknowledged, sent: isLost ? 0 : sent - acknowledged)
                if time <= 30 { half = Self.frames(scene.world.err).last?.percent ?? 0 }
            }
            scene.reporter.finish()
        }
        scene.reporter.finishAll()
        let frames = Self.frames(scene.world.err)
        #expect(frames.map(\.percent) == frames.map(\.percent).sorted(), "\(frames)")
        #expect(frames.count > 100 && (45...55).contains(half))
        let middle = try #require(frames.first { $0.line.hasPrefix("[11/20]") && $0.line.contains("left") }).line
        #expect(middle.contains(" of 60.0 MiB  1.0 MiB/s  ") && middle.contains("…"), "\(middle)")
        #expect(TerminalScreen(scene.world.err).lines.first == "uploaded 20 photos, 60.0 MiB in 1m00s")
    }

    @Test("the rate counts no byte that was there before")
    func resumed() throws {
        for completed in [Int64(90 << 20), 0] {
            let scene = try make(.live, columns: 100)
            scene.reporter.start("a.jpg", total: 100 << 20, from: 90 << 20)
            scene.update(at: 0.001, completed)
            for second in 1...4 { scene.update(at: Double(second), completed + Int64(second) << 20) }
            let line = try #require(Self.frames(scene.world.err).last).line
            #expect(line.contains("  1.0 MiB/s  "), "\(line)")
            scene.reporter.finish()
        }
    }

    @Test("photos that were there already are told apart in the sum")
    func present() throws {
        let scene = try make(.live)
        scene.reporter.plan(3, total: 30)
        scene.reporter.start("a.jpg", place: (1, 3), total: 10)
        scene.update(at: 1, 10)
        scene.reporter.finish()
        scene.reporter.skip(bytes: 10)
        scene.reporter.skip(bytes: 10)
        scene.reporter.finishAll()
        let lines = TerminalScreen(scene.world.err).lines
        #expect(lines.first == "uploaded 1 of 3 photos, 10 bytes in 1s; 2 already there", "\(lines)")
    }

    @Test("photos whose bytes nobody knows yet count as shares of all")
    func shares() throws {
        let scene = try make(.live)
        scene.reporter.plan(4)
        for number in 1...4 {
            scene.reporter.start("a.jpg", place: (number, 4), total: 100)
            for step in 1...2 { scene.update(at: Double(number * 2 + step) / 2, Int64(step) * 50) }
            scene.reporter.finish()
        }
        #expect(Self.frames(scene.world.err).map(\.percent) == [0, 12, 25, 25, 37, 50, 50, 62, 75, 75, 87, 99])
    }

    @Test("who asks by a signal gets a line, on a terminal and in a log, and a new width is used at once")
    func asked() async throws {
        for display in [ProgressMode.Display.live, .log] {
            let scene = try make(display)
            await scene.reporter.following {
                scene.asked.send(.report)
                scene.reporter.start("a.jpg", total: 1000)
                scene.update(at: 1, 500)
                scene.asked.send(.report)
                if display == .live {
                    scene.asked.columns.withLock { $0 = 12 }
                    scene.clock.set(2)
                    scene.asked.send(.resize)
                    let last = scene.world.err.split(separator: "\r").last ?? ""
                    #expect(last.prefix { $0 != "%" }.count < 12, "\(last)")
                }
                scene.reporter.finish()
            }
            let lines = TerminalScreen(scene.world.err).lines
            #expect(lines.first == "byteclub: no transfer in progress")
            #expect(lines.contains { $0.hasPrefix("byteclub: a.jpg   50%  500 of 1000 bytes") }, "\(lines)")
            scene.asked.send(.report)
            #expect(TerminalScreen(scene.world.err).lines == lines)
        }
    }

    @Test("a terminal that has a task bar is told, and told in the end that nothing goes on")
    func taskbar() throws {
        let scene = try make(.live, ["TERM_PROGRAM": "ghostty"])
        scene.reporter.start("a.jpg", total: nil)
        #expect(scene.world.err.hasPrefix("\u{1B}]9;4;3;0\u{1B}\\"))
        scene.update(at: 1, 25, of: 100)
        #expect(scene.world.err.contains("\u{1B}]9;4;1;25\u{1B}\\"))
        scene.reporter.fail()
        let cleared = "\u{1B}]9;4;0;0\u{1B}\\"
        #expect(scene.world.err.ranges(of: cleared).count == 1)
        let unknown = try make(.live)
        unknown.reporter.start("a.jpg", total: 9)
        unknown.reporter.finish()
        #expect(!unknown.world.err.contains("\u{1B}"))
    }

    @Test("a terminal that takes nothing is not waited for when its task bar is to be cleared")
    func stuck() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        defer { for end in [reading, writing] { close(end) } }
        for end in [reading, writing] { try #require(fcntl(end, F_SETFL, O_NONBLOCK) == 0) }
        TaskbarProgress.clear(on: writing)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let cleared = Array(TaskbarProgress.none.sequence.utf8)
        #expect(unsafe read(reading, &buffer, buffer.count) == cleared.count && buffer.starts(with: cleared))
        while unsafe write(writing, buffer, buffer.count) > 0 {}
        // From here on a write waits for a reader.
        try #require(fcntl(writing, F_SETFL, 0) == 0)
        let end = Status()
        BackgroundThread.start {
            TaskbarProgress.clear(on: writing)
            end.set(.success)
        }
        do {
            try await eventually("it returns") { end.value != nil }
        } catch {
            _ = unsafe read(reading, &buffer, buffer.count)
            throw error
        }
    }

    @Test("what a signal cleared is shown again with the next line, though it has not changed")
    func shownAgain() throws {
        let world = try World()
        let line = StatusLine(world.context().diagnostics, columns: { 80 }, ["TERM_PROGRAM": "ghostty"])
        try line.show("a", taskbar: .busy)
        try line.show("b", taskbar: .busy)
        #expect(world.err.ranges(of: TaskbarProgress.busy.sequence).count == 1)
        TaskbarProgress.clearings.add(1, ordering: .relaxed)
        try line.show("c", taskbar: .busy)
        #expect(world.err.ranges(of: TaskbarProgress.busy.sequence).count == 2)
    }

    @Test("only terminals that are known to have one are told of a task bar")
    func knownTaskbars() {
        for (environment, isKnown) in [
            ([:], false), (["WT_SESSION": "1"], true), (["ConEmuANSI": "ON"], true), (["ConEmuANSI": "OFF"], false),
            (["TERM_PROGRAM": "WezTerm"], true), (["TERM_PROGRAM": "vscode"], false),
            (["TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.6.6"], true),
            (["TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.10.0beta1"], true),
            (["TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.6.5"], false),
            (["TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "4"], true),
            (["TERM_PROGRAM": "iTerm.app"], false), (["WT_SESSION": "1", "NO_COLOR": "1"], false),
            (["WT_SESSION": "1", "TMUX": "/tmp/x"], false), (["WT_SESSION": "1", "TERM": "screen-256color"], false),
        ] as [([String: String], Bool)] {
            #expect(TaskbarProgress.isKnown(to: environment) == isKnown, "\(environment)")
        }
    }

    @Test("progress is shown where it can be read")
    func display() throws {
        let world = try World()
        let display = { (mode: ProgressMode, terminal: Terminal, term: String, json: Bool) in
            mode.display(world.context(["TERM": term], terminal: terminal), json: json)
        }
        #expect(display(.auto, Self.tty, "xterm", false) == .live)
        #expect(display(.auto, Self.tty, "dumb", false) == .log)
        #expect(display(.auto, .none, "xterm", false) == .log)
        #expect(display(.auto, Self.tty, "xterm", true) == .none)
        #expect(display(.always, Self.tty, "xterm", true) == .live)
        #expect(display(.never, Self.tty, "xterm", false) == .none)
        for json in [true, false] { #expect(display(.json, Self.tty, "xterm", json) == .events) }
    }
}

import Synchronization
import Testing

@testable import ByteClubCLI

@Suite struct ProgressReporterTests {
    private static let tty = Terminal(
        isInputTerminal: true, isOutputTerminal: true, isErrorTerminal: true, columns: { 60 })

    private func make(_ display: ProgressMode.Display) throws -> (World, ProgressReporter, @Sendable (Double) -> Void) {
        let world = try World()
        let clock = Clock()
        var context = world.context(terminal: Self.tty)
        context.uptime = { clock.now }
        return (world, ProgressReporter(context, display: display), { clock.set($0) })
    }

    private final class Clock: Sendable {
        private let value = Mutex(Duration.zero)
        var now: Duration { value.withLock { $0 } }
        func set(_ seconds: Double) { value.withLock { $0 = .seconds(seconds) } }
    }

    @Test("a terminal's line is drawn at most ten times a second and leaves nothing behind")
    func live() throws {
        let (world, reporter, set) = try make(.live)
        reporter.start("a.jpg", total: 1000)
        for step in 1...1000 {
            set(Double(step) / 1000)
            reporter.update(completed: Int64(step), total: 1000)
        }
        #expect(world.err.count { $0 == "\r" } <= 11)
        reporter.finish()
        #expect(world.err.hasSuffix(" \r"))
        #expect(!world.err.contains("\n") && !world.err.contains("\u{1B}"))
        #expect(world.out.isEmpty)
    }

    @Test("a log gets a line after a second, every thirty seconds and at the end, and none of what is over at once")
    func log() throws {
        let (world, reporter, set) = try make(.log)
        reporter.start("small.jpg", total: 10)
        set(0.9)
        reporter.update(completed: 10, total: nil)
        reporter.finish()
        #expect(world.err.isEmpty)
        reporter.start("a.jpg", total: 95)
        for second in 1...95 {
            set(Double(second))
            reporter.update(completed: Int64(second), total: nil)
        }
        reporter.finish()
        let lines = world.err.split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines.first?.contains("  2%") == true && lines.last?.contains("100%") == true, "\(lines)")
        #expect(!world.err.contains("\r") && !world.err.contains("\u{1B}"))
    }

    @Test("a stall is told on a terminal while nothing moves")
    func stall() throws {
        let (world, reporter, set) = try make(.live)
        reporter.start("a.jpg", total: 1000)
        set(1)
        reporter.update(completed: 10, total: nil)
        set(13)
        reporter.tick()
        #expect(world.err.contains("stalled 12s"))
    }

    @Test("progress is shown where it can be read")
    func display() {
        let auto = ProgressMode.auto
        #expect(auto.display(terminal: Self.tty, environment: [:], json: false) == .live)
        #expect(auto.display(terminal: Self.tty, environment: ["TERM": "dumb"], json: false) == .log)
        #expect(auto.display(terminal: .none, environment: [:], json: false) == .log)
        #expect(auto.display(terminal: Self.tty, environment: [:], json: true) == .none)
        #expect(ProgressMode.always.display(terminal: Self.tty, environment: [:], json: true) == .live)
        #expect(ProgressMode.never.display(terminal: Self.tty, environment: [:], json: false) == .none)
    }
}

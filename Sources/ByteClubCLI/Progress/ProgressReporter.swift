import ByteClubCore
import Synchronization

/// Tells people how far a transfer has come, on standard error.
///
/// Counts may come from any thread and as often as they like: a terminal's line is drawn at most ten times a second and
/// only when it changed. A log gets a line after a second, every thirty seconds from then on, and one at the end; nothing
/// of a transfer that ends within its first second.
final class ProgressReporter: Sendable {
    private struct Current {
        var name: String
        var place: (number: Int, of: Int)?
        var completed: Int64 = 0
        var total: Int64?
        var start: Double
        var meter: RateMeter
        var lastLogged: Double?
    }

    private struct State {
        var current: Current?
        var drawn = ""
        var lastOutput = -Double.infinity
    }

    private static let drawInterval = 0.1
    private static let logDelay = 1.0
    private static let logInterval = 30.0

    private let display: ProgressMode.Display
    private let output: Output
    private let columns: @Sendable () -> Int?
    private let uptime: @Sendable () -> Duration
    private let state = Mutex(State())

    /// Creates a reporter that writes to a context's diagnostics.
    init(_ context: Context, display: ProgressMode.Display) {
        self.display = display
        output = context.diagnostics
        columns = context.terminal.columns
        uptime = context.uptime
    }

    private var now: Double {
        let parts = uptime().components
        return Double(parts.seconds) + Double(parts.attoseconds) * 1e-18
    }

    /// Begins a transfer, or goes on with one of which so many bytes were moved before.
    func start(_ name: String, place: (number: Int, of: Int)? = nil, total: Int64?, from completed: Int64 = 0) {
        let now = now
        state.withLock { state in
            state.current = Current(
                name: name, place: place, completed: completed, total: total, start: now,
                meter: RateMeter(time: now, count: completed))
            if display == .live { report(&state, now, isForced: true) }
        }
    }

    /// Takes a count.
    func update(completed: Int64, total: Int64?) {
        let now = now
        state.withLock { state in
            state.current?.completed = completed
            if let total { state.current?.total = total }
            if now - state.lastOutput >= Self.drawInterval { report(&state, now, isForced: false) }
        }
    }

    /// Looks at the clock: while nothing moves, that is told too.
    func tick() {
        let now = now
        state.withLock { report(&$0, now, isForced: false) }
    }

    /// Ends a transfer; its line goes away on a terminal, so that results and messages stand alone.
    func finish() {
        let now = now
        state.withLock { state in
            if let current = state.current, current.lastLogged != nil, current.completed == current.total {
                report(&state, now, isForced: true)
            }
            state.current = nil
            clear(&state)
        }
    }

    /// Writes the line that a terminal or a log shows, if it is time for it.
    private func report(_ state: inout State, _ now: Double, isForced: Bool) {
        guard var current = state.current else { return }
        current.meter.take(time: now, count: current.completed)
        state.current = current
        let progress = ProgressState(
            name: current.name, place: current.place, completed: current.completed, total: current.total,
            bytesPerSecond: current.meter.bytesPerSecond, elapsed: now - current.start,
            idle: now - current.meter.lastMove)
        switch display {
        case .none: return
        case .log:
            let due = current.lastLogged.map { $0 + Self.logInterval } ?? current.start + Self.logDelay
            guard isForced || now >= due else { return }
            state.current?.lastLogged = now
            try? output.line(ProgressLine.text(progress, style: .plain))
        case .live:
            guard isForced || now - state.lastOutput >= Self.drawInterval else { return }
            let line = ProgressLine.text(progress, style: .bar(columns: columns() ?? 80))
            guard line != state.drawn else { return }
            let blanks = max(0, DisplayWidth.of(state.drawn) - DisplayWidth.of(line))
            state.lastOutput = now
            state.drawn = line
            try? output.write("\r" + line + String(repeating: " ", count: blanks))
        }
    }

    private func clear(_ state: inout State) {
        if display == .live, !state.drawn.isEmpty {
            let width = min(DisplayWidth.of(state.drawn), max(0, (columns() ?? 80) - 1))
            try? output.write("\r" + String(repeating: " ", count: width) + "\r")
        }
        state.drawn = ""
    }

    /// Does work while somebody looks at the clock.
    func ticking<Value: Sendable>(_ work: () async throws -> Value) async rethrows -> Value {
        let ticker = Task { [self] in
            while (try? await Task.sleep(for: .milliseconds(display == .live ? 200 : 1000))) != nil { tick() }
        }
        defer { ticker.cancel() }
        return try await work()
    }
}

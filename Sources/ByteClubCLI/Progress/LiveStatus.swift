import ByteClubCore
import Synchronization

/// A status line about a sync, below all output on a terminal.
///
/// Output and status line are written together, at most ten times a second. During work the line is drawn once a
/// second; an idle sync draws nothing and has no timer.
final class LiveStatus: Sendable {
    private struct State {
        var activity: MirrorActivity
        var lines: [String] = []
        var lastDraw = -Double.infinity
        /// When to read the database again, in seconds.
        var nextRead = 0.0
        var isReadDue = false
        var timer: Task<Void, Never>?
        var isTimerUrgent = false
        var isEnded = false
        var failure: (any Error)?
    }

    private static let interval = 0.1
    private static let pulse = 1.0

    private let line: StatusLine
    private let context: Context
    private let style: TextStyle
    private let readStatus: @Sendable () -> SyncStatus?
    private let state: Mutex<State>

    /// Creates the line; `readStatus` reads the mirror's database.
    init(_ context: Context, readStatus: @escaping @Sendable () -> SyncStatus?) {
        line = context.statusLine
        self.context = context
        style = TextStyle(calendar: context.calendar)
        self.readStatus = readStatus
        state = Mutex(State(activity: MirrorActivity(now: context.seconds)))
        state.withLock { draw(&$0) }
    }

    /// Records an event and its printed line, if any.
    func take(_ event: SyncEvent, line: String?) {
        let now = context.seconds
        state.withLock { state in
            if state.isEnded { return }
            state.activity.take(event, now: now)
            state.lines += (line ?? "").split(separator: "\n").map(String.init)
            if event.event == .idle { state.isReadDue = true }
            if now - state.lastDraw >= Self.interval { draw(&state) } else { arm(&state, isUrgent: true) }
        }
    }

    /// Prints a line without an event.
    func add(_ line: String) {
        state.withLock { state in
            if state.isEnded { return }
            state.lines += line.split(separator: "\n").map(String.init)
            arm(&state, isUrgent: true)
        }
    }

    /// Prints the progress as a lasting line.
    func tellNow() {
        add(state.withLock { "byteclub: " + ActivityLine.text($0.activity, columns: 200, style) })
    }

    /// Redraws the line, as after a resize of the terminal.
    func redraw() {
        state.withLock { if !$0.isEnded { draw(&$0) } }
    }

    /// Removes the line, and throws an error of earlier writes.
    func end() throws {
        try state.withLock { state in
            if state.isEnded { return }
            state.isEnded = true
            state.timer?.cancel()
            do { try line.clear() } catch { state.failure = state.failure ?? error }
            write("", &state)
            if let failure = state.failure { throw failure }
        }
    }

    private func draw(_ state: inout State) {
        let now = context.seconds
        state.lastDraw = now
        let isWorking = state.activity.phase == .working
        if state.isReadDue || isWorking, now >= state.nextRead {
            state.isReadDue = false
            if let status = readStatus() { state.activity.take(status) }
            // Reading the state of a large mirror is slow; bound it to a twentieth of the time.
            let end = context.seconds
            state.nextRead = end + max(isWorking ? Self.pulse : Self.interval, (end - now) * 20)
        }
        write(ActivityLine.text(state.activity, columns: context.terminal.columns() ?? 80, style), &state)
        if isWorking || state.isReadDue { arm(&state, isUrgent: false) }
    }

    /// Writes the buffered lines, and redraws the status line below them.
    private func write(_ line: String, _ state: inout State) {
        let lines = state.lines
        state.lines = []
        do { try self.line.show(line, below: lines, taskbar: line.isEmpty ? .none : state.activity.taskbar) } catch {
            if state.failure == nil { state.failure = error }
        }
    }

    /// Schedules a redraw: soon after a change, else within a second.
    private func arm(_ state: inout State, isUrgent: Bool) {
        if state.timer != nil, state.isTimerUrgent || !isUrgent { return }
        state.timer?.cancel()
        state.isTimerUrgent = isUrgent
        let pause = isUrgent ? Self.interval : Self.pulse
        state.timer = Task { [weak self] in
            try? await Task.sleep(for: .seconds(pause))
            if !Task.isCancelled { self?.fire() }
        }
    }

    private func fire() {
        state.withLock { state in
            if state.isEnded { return }
            state.timer = nil
            draw(&state)
        }
    }
}

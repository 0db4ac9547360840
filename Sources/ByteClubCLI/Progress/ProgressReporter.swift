import ByteClubCore
import Synchronization

/// Tells people or programs how far the transfers of a command have come, on standard error.
///
/// Counts may come from any thread and as often as they like: a terminal's line is drawn at most ten times a second and
/// only when it changed. A log gets a line at the start, one every thirty seconds while a transfer is under way, one after
/// each, and one in the end when there were several; what fails or is over within a second has no line at the start. Of
/// transfers that have a place among several a line tells how far all are together, never less than the line before, and
/// a terminal gets one in the end too.
final class ProgressReporter: Sendable {
    private struct Current {
        var state: ProgressState
        /// What events call it.
        var path: String
        var start: Double
        /// Bytes that were there before.
        var before: Int64
        /// The rate of what has left here.
        var moved: RateMeter
        var hasMoved = false
        var lastTold: Double

        /// The bytes that were moved now.
        var new: Int64 { max(0, state.moved - before) }
    }

    private struct State {
        var current: Current?
        /// How many transfers there will be, and of how many bytes as far as that is known.
        var plan: (count: Int, total: Int64?) = (1, nil)
        var start: Double?
        var bytes: Int64 = 0
        /// The bytes of all transfers that are over, however they ended.
        var passed: Int64 = 0
        var files = 0
        var failed = 0
        /// How many need not be made.
        var present = 0
        /// How many are not tried.
        var skipped = 0
        /// The rate of all transfers together.
        var all: RateMeter?
        /// The most of the whole that has been shown, which nothing shown later is below: in bytes, or as a share.
        var furthest: (bytes: Int64, share: Double) = (0, 0)
        var lastDraw = -Double.infinity
        var hasPlaces = false
        var isStartTold = false
        var isEnded = false
    }

    private static let drawInterval = 0.1
    private static let eventInterval = 1.0
    private static let logDelay = 1.0
    private static let logInterval = 30.0

    private let display: ProgressMode.Display
    private let words: TransferWords
    private let context: Context
    private let line: StatusLine
    private let state = Mutex(State())

    /// Creates a reporter that writes to a context's diagnostics.
    init(_ context: Context, display: ProgressMode.Display, _ words: TransferWords) {
        self.display = display
        self.words = words
        self.context = context
        line = context.statusLine
    }

    private var now: Double { context.uptime() / .seconds(1) }

    /// Says how many transfers there will be, and how many bytes they have in all when that is known.
    func plan(_ count: Int, total: Int64? = nil) { state.withLock { $0.plan = (count, total) } }

    /// Begins a transfer, or goes on with one of which so many bytes were moved before.
    func start(
        _ name: String, path: String? = nil, place: (number: Int, of: Int)? = nil, total: Int64?,
        from completed: Int64 = 0
    ) {
        let now = now
        state.withLock { state in
            state.start = state.start ?? now
            state.all = state.all ?? RateMeter(time: now, count: 0)
            if place == nil { state.furthest = (0, 0) } else { state.hasPlaces = true }
            state.current = Current(
                state: ProgressState(name: name, place: place, completed: completed, total: total),
                path: path ?? name, start: now, before: completed, moved: RateMeter(time: now, count: completed),
                lastTold: now)
            switch display {
            case .live: draw(&state, now)
            case .events: write(.start, state.current)
            default: break
            }
        }
    }

    /// Takes a count.
    func update(_ progress: TransferProgress) {
        let now = now
        state.withLock { state in
            guard var current = state.current else { return }
            if !current.hasMoved, progress.completed < current.before {
                // What was there is not what is wanted now.
                current.before = progress.completed
                current.moved = RateMeter(time: now, count: progress.completed)
                if current.state.place == nil { state.furthest = (0, 0) }
            }
            current.hasMoved = true
            let moved = current.state.moved
            (current.state.completed, current.state.inFlight) = (progress.completed, progress.inFlight)
            current.state.total = progress.total ?? current.state.total
            if current.state.moved != moved {
                current.moved.take(time: now, count: current.state.moved)
                state.all?.take(time: now, count: state.bytes + current.new)
            }
            state.current = current
            tell(&state, now)
        }
    }

    /// Looks at the clock: while nothing moves, that is told too.
    func tick() {
        let now = now
        state.withLock { tell(&$0, now) }
    }

    /// Tells how far it is at once, as somebody asked by a signal.
    func tellNow() {
        let now = now
        state.withLock { state in
            switch display {
            case .events where state.current != nil: write(.progress, state.current)
            default:
                let text = state.current.map { ProgressLine.text(Self.progress($0, &state, now), style: .plain) }
                context.note(text ?? "no transfer in progress")
            }
        }
    }

    /// Counts a transfer that need not be made.
    func skip(bytes: Int64) {
        state.withLock { state in
            state.passed = state.passed.adding(bytes)
            state.present += 1
        }
    }

    /// Counts transfers that are not tried.
    func leave(_ count: Int) { state.withLock { $0.skipped += count } }

    /// Ends a transfer of which all is there; its line goes away on a terminal, so that results stand alone.
    func finish() { end(isWhole: true) }

    /// Counts a transfer that came to nothing, which ends it where it had begun.
    func fail() { end(isWhole: false) }

    private func end(isWhole: Bool) {
        let now = now
        state.withLock { state in
            defer { try? line.clear() }
            guard let current = state.current else {
                if !isWhole { state.failed += 1 }
                return
            }
            let total = current.state.total ?? current.state.completed
            state.bytes = state.bytes.adding(max(0, (isWhole ? total : current.state.completed) - current.before))
            state.all?.take(time: now, count: state.bytes)
            state.passed = state.passed.adding(total)
            if isWhole { state.files += 1 } else { state.failed += 1 }
            state.current = nil
            switch display {
            case .log where isWhole:
                if state.plan.count > 1 { tellStart(&state, current) }
                log(words.finish(current.state.name, bytes: total, seconds: now - current.start))
            case .events:
                var ended = current
                if isWhole { (ended.state.completed, ended.state.total) = (total, total) }
                write(isWhole ? .finish : .failed, ended)
            default: break
            }
        }
    }

    /// Tells the sum, once.
    func finishAll() {
        if state.withLock({ $0.current != nil }) { fail() }
        let now = now
        state.withLock { state in
            if state.isEnded { return }
            state.isEnded = true
            let isTold = display == .log || display == .live && state.hasPlaces
            if isTold, state.plan.count > 1, let start = state.start {
                log(
                    words.summary(
                        files: state.files, of: state.plan.count, present: state.present, bytes: state.bytes,
                        seconds: now - start))
            }
            if display == .events {
                write(
                    ProgressEvent(
                        event: .summary, time: time, bytes: state.bytes, total: state.plan.total, files: state.files,
                        failed: state.failed, present: state.present, skipped: state.skipped, version: 1))
            }
        }
    }

    /// Writes what a terminal, a log or a program is shown, if it is time for it.
    private func tell(_ state: inout State, _ now: Double) {
        guard let current = state.current else { return }
        switch display {
        case .live: if now - state.lastDraw >= Self.drawInterval { draw(&state, now) }
        case .log:
            if now - (state.start ?? now) >= Self.logDelay { tellStart(&state, current) }
            guard now - current.lastTold >= Self.logInterval else { return }
            state.current?.lastTold = now
            log(ProgressLine.text(Self.progress(current, &state, now), style: .plain))
        case .events:
            guard now - current.lastTold >= Self.eventInterval else { return }
            state.current?.lastTold = now
            write(.progress, current)
        case .none: break
        }
    }

    private func tellStart(_ state: inout State, _ current: Current) {
        if state.isStartTold { return }
        state.isStartTold = true
        let total = state.plan.count == 1 ? current.state.total : state.plan.total
        log(words.start(current.state.name, of: state.plan.count, total: total))
    }

    private func log(_ line: String) { try? context.diagnostics.line(Failure.line(line)) }

    private func draw(_ state: inout State, _ now: Double) {
        guard let current = state.current else { return }
        let progress = Self.progress(current, &state, now)
        state.lastDraw = now
        try? line.show(
            ProgressLine.text(progress, style: .bar(columns: context.terminal.columns() ?? 80)),
            taskbar: progress.percent.map { .percent($0) } ?? .busy)
    }

    /// How far the only transfer is, or all of several.
    private static func progress(_ current: Current, _ state: inout State, _ now: Double) -> ProgressState {
        var progress = current.state
        progress.bytesPerSecond = current.moved.bytesPerSecond
        progress.elapsed = now - current.start
        progress.idle = now - current.moved.lastMove
        if let place = progress.place {
            progress.bytesPerSecond = state.all?.bytesPerSecond
            progress.elapsed = now - (state.start ?? now)
            progress.completed = progress.completed.adding(state.passed)
            progress.total = state.plan.total
            if progress.total == nil {
                let own = current.state.percent.map { Double($0) / 100 } ?? 0
                state.furthest.share = max(state.furthest.share, (Double(place.number - 1) + own) / Double(place.of))
                progress.share = state.furthest.share
            }
        }
        // Also when a part is sent again.
        progress.inFlight = max(progress.moved, state.furthest.bytes) - progress.completed
        state.furthest.bytes = progress.moved
        return progress
    }

    private var time: String { CalendarTime.utc(context.now()).rfc3339 }

    private func write(_ kind: ProgressEvent.Kind, _ current: Current?) {
        guard let current else { return }
        write(
            ProgressEvent(
                event: kind, time: time, path: current.path, bytes: current.state.completed,
                total: current.state.total))
    }

    private func write(_ event: ProgressEvent) {
        guard let line = try? JSON.line(event) else { return }
        try? context.diagnostics.write(line)
    }

    /// Does work while somebody looks at the clock and answers signals, and tells the sum when it is done.
    func following<Value: Sendable>(_ work: () async throws -> Value) async rethrows -> Value {
        let ticker = Task { [self] in
            while (try? await Task.sleep(for: .milliseconds(display == .live ? 200 : 1000))) != nil { tick() }
        }
        let stop = context.statusSignals.listen { [self] in $0 == .report ? tellNow() : tick() }
        defer {
            stop()
            ticker.cancel()
            finishAll()
        }
        return try await work()
    }
}

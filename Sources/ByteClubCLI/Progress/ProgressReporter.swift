import ByteClubCore
import Synchronization

/// Reports the progress of a command's transfers on standard error, for people or programs.
///
/// Updates may come from any thread at any rate: a terminal's line is drawn at most ten times a second, and only when
/// it changed. A log has a line at the start, one every thirty seconds during a transfer, one after each, and one at
/// the end of several; a transfer that fails or ends within a second has no line at the start. The line for one of
/// several transfers shows the progress of all together, which never decreases, and a terminal has one at the end as
/// well.
final class ProgressReporter: Sendable {
    private struct Current {
        var state: ProgressState
        /// Its name in events.
        var path: String
        var start: Double
        /// Bytes of an earlier attempt.
        var before: Int64
        /// The rate of sent bytes.
        var moved: RateMeter
        var hasMoved = false
        var lastTold: Double

        /// The bytes that were moved now.
        var new: Int64 { max(0, state.moved - before) }
    }

    private struct State {
        var current: Current?
        /// The number of transfers, and their total bytes when known.
        var plan: (count: Int, total: Int64?) = (1, nil)
        var start: Double?
        var bytes: Int64 = 0
        /// Bytes of all ended transfers, successful or not.
        var passed: Int64 = 0
        var files = 0
        var failed = 0
        /// How many need not be made.
        var present = 0
        /// How many are not tried.
        var skipped = 0
        /// The rate of all transfers together.
        var all: RateMeter?
        /// The greatest progress shown, below which later lines never fall: in bytes, or as a share.
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

    /// Sets the number of transfers, and their bytes in all when known.
    func plan(_ count: Int, total: Int64? = nil) { state.withLock { $0.plan = (count, total) } }

    /// Begins a transfer, or resumes one after so many bytes.
    func start(
        _ name: String, path: String? = nil, place: (number: Int, of: Int)? = nil, total: Int64?,
        from completed: Int64 = 0
    ) {
        let now = context.seconds
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

    /// Updates the progress.
    func update(_ progress: TransferProgress) {
        let now = context.seconds
        state.withLock { state in
            guard var current = state.current else { return }
            if !current.hasMoved, progress.completed < current.before {
                // The earlier bytes are of another version, so the transfer starts at 0.
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

    /// Reports the passing of time: a stalled transfer is reported as well.
    func tick() {
        let now = context.seconds
        state.withLock { tell(&$0, now) }
    }

    /// Reports the progress now, on a user's signal.
    func tellNow() {
        let now = context.seconds
        state.withLock { state in
            switch display {
            case .events where state.current != nil: write(.progress, state.current)
            default:
                let text = state.current.map { ProgressLine.text(Self.progress($0, &state, now), style: .plain) }
                context.note(text ?? "no transfer in progress")
            }
        }
    }

    /// Counts a transfer that is not necessary.
    func skip(bytes: Int64) {
        state.withLock { state in
            state.passed = state.passed.adding(bytes)
            state.present += 1
        }
    }

    /// Counts transfers that are not tried.
    func leave(_ count: Int) { state.withLock { $0.skipped += count } }

    /// Ends a complete transfer; a terminal's line is removed, so that only results remain.
    func finish() { end(isWhole: true) }

    /// Counts a failed transfer, and ends it if it had begun.
    func fail() { end(isWhole: false) }

    private func end(isWhole: Bool) {
        let now = context.seconds
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

    /// Reports the totals, once.
    func finishAll() {
        if state.withLock({ $0.current != nil }) { fail() }
        let now = context.seconds
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
                context.report(
                    ProgressEvent(
                        event: .summary, time: context.timestamp, bytes: state.bytes, total: state.plan.total,
                        files: state.files,
                        failed: state.failed, present: state.present, skipped: state.skipped, version: 1))
            }
        }
    }

    /// Writes the progress for a terminal, log or program, if it is due.
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

    /// The progress of the only transfer, or of all of several.
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

    private func write(_ kind: ProgressEvent.Kind, _ current: Current?) {
        guard let current else { return }
        context.report(
            ProgressEvent(
                event: kind, time: context.timestamp, path: current.path, bytes: current.state.completed,
                total: current.state.total))
    }

    /// Performs work with a timer and signals for reports, and reports the totals at its end.
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

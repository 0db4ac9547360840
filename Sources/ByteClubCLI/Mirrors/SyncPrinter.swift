import ByteClubCore
import Synchronization

/// Prints the events of a sync: changes to standard output, the rest to standard error; or all of them as JSON.
///
/// A terminal has a status line below them; with `tellsTime` each line begins with the time.
final class SyncPrinter: Sendable {
    private struct State {
        var hasSummary = false
        var failure: (any Error)?
        /// The last printed obstacle of the whole mirror; nil without one.
        var problem: String?
        var limit = EventLimit()
    }

    private let context: Context
    private let json: Bool
    private let tellsTime: Bool
    private let live: LiveStatus?
    private let log: MirrorTransferLog
    private let stopAnswering: @Sendable () -> Void
    private let results: GatheredOutput
    private let state = Mutex(State())
    private var style: TextStyle { context.style }

    /// Creates a printer for a context's outputs; `readStatus` reads the mirror's database for the status line.
    init(
        context: Context, json: Bool, progress: ProgressMode = .auto, tellsTime: Bool = false,
        readStatus: (@Sendable () -> SyncStatus?)? = nil
    ) {
        self.context = context
        self.json = json
        self.tellsTime = tellsTime
        let display = progress.display(context, json: json)
        let live = display == .live ? readStatus.map { LiveStatus(context, readStatus: $0) } : nil
        let log = MirrorTransferLog(context, display)
        stopAnswering = context.statusSignals.listen { signal in
            switch (signal, live) {
            case (.report, let live?): live.tellNow()
            case (.report, nil): log.tellNow()
            case (.resize, _): live?.redraw()
            }
        }
        (self.live, self.log) = (live, log)
        results = GatheredOutput(context.output)
    }

    /// Whether a summary was printed.
    var hasSummary: Bool { state.withLock { $0.hasSummary } }

    /// Prints one event; an error is kept until ``finish(_:)``.
    func take(_ event: SyncEvent) {
        do {
            if event.event == .summary { state.withLock { $0.hasSummary = true } }
            log.take(event)
            if json {
                live?.take(event, line: nil)
                return try results.write(JSON.line(dated(event)))
            }
            if event.event == .summary || event.event == .idle { tellRest() }
            let text = isNews(event) ? EventLine.text(event, style).map(Failure.line) : nil
            let isResult = ![.problem, .held, .paused, .summary].contains(event.event)
            if isResult, let text, live == nil || !context.terminal.isOutputTerminal {
                try results.write(Array((text + "\n").utf8))
                live?.take(event, line: nil)
            } else if let live {
                live.take(event, line: text.map { shown((isResult ? "" : "byteclub: ") + $0) })
            } else if let text {
                note(text)
            }
        } catch {
            state.withLock { if $0.failure == nil { $0.failure = error } }
        }
    }

    private func dated(_ event: SyncEvent) -> DatedSyncEvent {
        DatedSyncEvent(event: event, time: context.timestamp)
    }

    /// A line for the output's medium.
    private func shown(_ line: String) -> String {
        let style = style
        return style.wrapped((tellsTime ? style.calendar(context.now()).clock + "  " : "") + line)
    }

    /// Whether an event has a line of its own: a problem only once, not with each attempt, and nothing that the status
    /// line shows.
    private func isNews(_ event: SyncEvent) -> Bool {
        guard state.withLock({ $0.limit.tells(event) }) else { return false }
        switch event.event {
        case .problem where event.until != nil:
            let isNew = state.withLock { state in
                defer { state.problem = event.message }
                return state.problem != event.message
            }
            return isNew && live == nil
        // The status line shows a pause as long as it lasts.
        case .paused: return live == nil
        case .idle:
            let wasTroubled = state.withLock { state in
                defer { state.problem = nil }
                return state.problem != nil
            }
            if wasTroubled, live == nil { note("connected again") }
            return true
        default: return true
        }
    }

    /// Prints the counts of paths that were not listed.
    private func tellRest() {
        for line in state.withLock({ $0.limit.rest() }) {
            if let live { live.add(shown("byteclub: " + line)) } else { note(line) }
        }
    }

    /// Prints a note after the lines so far; an error in these is kept until ``finish(_:)``.
    private func note(_ text: String) {
        try? results.flush()
        context.note(text)
    }

    /// Prints planned steps; returns whether there are none.
    func print(_ events: [SyncEvent]) throws -> Bool {
        try live?.end()
        let planned = events.map { PlannedStep($0) }
        let summary = PlannedSummary(planned)
        if json {
            for step in planned { try context.output.write(JSON.line(step)) }
            try context.output.write(JSON.line(summary))
            state.withLock { $0.hasSummary = true }
        } else {
            for step in planned where step.event != .held { try context.output.line(EventLine.plan(step)) }
            let held = ListedLines.first(planned.filter { $0.event == .held }, EventLine.plan)
            for line in held { try context.output.line(line) }
            context.note(summary.text)
        }
        return true
    }

    /// Makes a summary the last line in JSON, and throws errors of earlier output.
    func finish(_ failure: Failure?) throws {
        stopAnswering()
        try live?.end()
        try results.flush()
        log.finish()
        let state = state.withLock { state in
            defer { state.hasSummary = true }
            return (hasSummary: state.hasSummary, failure: state.failure)
        }
        if let failure = state.failure { throw failure }
        if json, !state.hasSummary {
            let message = failure.map { Failure.line($0.message) }
            try context.output.write(
                JSON.line(dated(SyncEvent(.summary, message: message, summary: SyncSummary()))))
        }
    }
}

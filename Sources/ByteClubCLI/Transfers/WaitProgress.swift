import Synchronization

/// Shows the progress of transfers during a wait: a line on a terminal, lines at intervals elsewhere, or
/// ``ProgressEvent``s.
final class WaitProgress: Sendable {
    private static let logInterval = 30.0

    private let context: Context
    private let display: ProgressMode.Display
    private let line: StatusLine
    private let start: Double
    private let lastLine: Mutex<Double>
    private let events = Mutex(WaitEvents())

    init(_ context: Context, _ display: ProgressMode.Display) {
        self.context = context
        self.display = display
        line = context.statusLine
        start = context.seconds
        lastLine = Mutex(start)
    }

    /// Reports the statuses, and finished transfers.
    func tell(_ wait: TransferWait) {
        guard display == .events else { return }
        let now = context.seconds
        for event in events.withLock({ $0.take(wait, now: now, time: context.timestamp) }) { context.report(event) }
    }

    /// Shows people how far they are now.
    func show(_ wait: TransferWait) {
        let now = context.seconds
        let state = wait.progress(after: now - start)
        switch display {
        case .live:
            let text = ProgressLine.text(state, style: .bar(columns: context.terminal.columns() ?? 80))
            try? line.show(text, taskbar: state.percent.map { .percent($0) } ?? .busy)
        case .log:
            let isDue = lastLine.withLock { last in
                guard now - last >= Self.logInterval else { return false }
                last = now
                return true
            }
            if isDue { try? context.diagnostics.line(ProgressLine.text(state, style: .plain)) }
        case .events, .none: break
        }
    }

    /// Removes the line, or reports the totals.
    func end() {
        switch display {
        case .live: try? line.clear()
        case .events: context.report(events.withLock { $0.summary(time: context.timestamp) })
        case .log, .none: break
        }
    }
}

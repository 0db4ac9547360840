import ByteClubCore
import Synchronization

/// Reports the large transfers of a sync without a terminal: after a second and then every thirty, as log lines or
/// ``ProgressEvent``s.
final class MirrorTransferLog: Sendable {
    private struct State {
        var activity: MirrorActivity
        /// When each large transfer was reported last, and is due next, in seconds.
        var told: [String: (last: Double?, next: Double)] = [:]
        var bytes: Int64 = 0
        var files = 0
        var failed = 0
        var isEnded = false
    }

    private static let logDelay = 1.0
    private static let logInterval = 30.0
    private static let eventInterval = 1.0

    private let context: Context
    private let display: ProgressMode.Display
    private let state: Mutex<State>

    /// Creates a log; it is empty for displays other than `log` and `events`.
    init(_ context: Context, _ display: ProgressMode.Display) {
        self.context = context
        self.display = display
        state = Mutex(State(activity: MirrorActivity(now: context.seconds)))
    }

    /// Records an event of the sync.
    func take(_ event: SyncEvent) {
        let now = context.seconds
        state.withLock { state in
            state.activity.take(event, now: now)
            switch (event.event, event.path) {
            case (.progress, let path?): progress(path, event, now, &state)
            case (.upload, let path?), (.download, let path?):
                state.files += 1
                state.bytes += event.bytes ?? 0
                guard state.told.removeValue(forKey: path) != nil else { return }
                write(.finish, path, event.bytes ?? 0, event.bytes)
            case (.problem, let path?):
                guard state.told.removeValue(forKey: path) != nil else { return }
                state.failed += 1
                write(.failed, path, 0, nil)
            default: break
            }
        }
    }

    /// Reports the progress now, on a user's signal.
    func tellNow() {
        let activity = state.withLock { $0.activity }
        context.note(ActivityLine.text(activity, columns: 200, context.style))
    }

    /// Reports the totals, once.
    func finish() {
        guard display == .events else { return }
        state.withLock { state in
            if state.isEnded { return }
            state.isEnded = true
            context.report(
                ProgressEvent(
                    event: .summary, time: context.timestamp, bytes: state.bytes, files: state.files,
                    failed: state.failed,
                    version: 1))
        }
    }

    private func progress(_ path: String, _ event: SyncEvent, _ now: Double, _ state: inout State) {
        let (last, next) = state.told[path] ?? (nil, now + (display == .log ? Self.logDelay : 0))
        state.told[path] = (last, next)
        if now < next { return }
        state.told[path] = (now, now + (display == .log ? Self.logInterval : Self.eventInterval))
        switch display {
        case .events: write(last == nil ? .start : .progress, path, event.bytes ?? 0, event.total)
        case .log:
            var progress = ProgressState(name: path, completed: event.bytes ?? 0, total: event.total)
            progress.bytesPerSecond = last == nil ? nil : state.activity.bytesPerSecond
            try? context.diagnostics.line(ProgressLine.text(progress, style: .plain))
        case .live, .none: break
        }
    }

    private func write(_ kind: ProgressEvent.Kind, _ path: String, _ bytes: Int64, _ total: Int64?) {
        guard display == .events else { return }
        context.report(ProgressEvent(event: kind, time: context.timestamp, path: path, bytes: bytes, total: total))
    }
}

import Synchronization

/// Gathers the reasons to look again, and wakes the one who waits.
final class Bell: Sendable {
    /// Why somebody rang.
    struct Reasons: Sendable {
        var folders: Set<String> = []
        var isEverything = false
        var isTime = false

        var isEmpty: Bool { folders.isEmpty && !isEverything && !isTime }
        var scope: ScanScope { isEverything ? .everything : .folders(folders) }
    }

    private struct State {
        var reasons = Reasons()
        var lastLocal: ContinuousClock.Instant?
        var timer: (at: ContinuousClock.Instant, task: Task<Void, Never>)?
    }

    /// Yields when there are reasons.
    let rings: AsyncStream<Void>
    private let sink: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    init() { (rings, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// Rings because something in the mirror may have changed.
    func ring(_ change: Watcher.Change) {
        state.withLock { state in
            switch change {
            case .folders(let folders): state.reasons.folders.formUnion(folders)
            case .unknown: state.reasons.isEverything = true
            case .degraded: return
            }
            state.lastLocal = .now
        }
        sink.yield()
    }

    /// Rings because the server may have changed, or because it is time.
    func ring(everything: Bool = false) {
        state.withLock { state in
            state.reasons.isTime = true
            if everything { state.reasons.isEverything = true }
        }
        sink.yield()
    }

    /// Gives reasons back that came to nothing, without ringing.
    func keep(_ reasons: Reasons) {
        state.withLock { state in
            state.reasons.folders.formUnion(reasons.folders)
            if reasons.isEverything { state.reasons.isEverything = true }
        }
    }

    /// Rings at a time, unless an earlier one is set.
    func ring(at time: ContinuousClock.Instant, everything: Bool = false) {
        state.withLock { state in
            if let timer = state.timer {
                if timer.at <= time, timer.at > .now, !everything { return }
                if !everything { timer.task.cancel() }
            }
            let task = Task { [weak self] in
                try? await Task.sleep(until: time, clock: .continuous)
                if !Task.isCancelled { self?.ring(everything: everything) }
            }
            if !everything { state.timer = (time, task) }
        }
    }

    /// Takes the reasons that have gathered.
    func take() -> Reasons {
        state.withLock { state in
            defer { state.reasons = Reasons() }
            return state.reasons
        }
    }

    /// Whether the disk changed within the last time, so that more is likely to come.
    func isUnquiet(within time: Duration) -> Bool {
        state.withLock { state in state.lastLocal.map { ContinuousClock.now - $0 < time } ?? false }
    }

    func stop() {
        state.withLock { state in state.timer?.task.cancel() }
        sink.finish()
    }
}

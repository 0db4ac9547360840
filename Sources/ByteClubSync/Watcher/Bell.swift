import Synchronization

/// Keeps the agenda for many who add to it, and wakes the one who works through it.
final class Bell: Sendable {
    /// How long the disk must not have changed before it counts as quiet.
    static let quiet = Duration.milliseconds(200)

    private struct State {
        var agenda = Agenda()
        var lastChange: ContinuousClock.Instant?
        var timer: (at: ContinuousClock.Instant, task: Task<Void, Never>)?
    }

    /// Yields when something may be due.
    let rings: AsyncStream<Void>
    private let sink: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    init() { (rings, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// Adds to the agenda, and wakes the one who waits at the earliest moment on it.
    func plan(_ change: (inout Agenda) -> Void) {
        state.withLock { state in
            change(&state.agenda)
            arm(&state)
        }
    }

    /// Asks for a cycle now.
    func ring() { plan { $0.wake(.now) } }

    /// Notes what a watcher saw: what is finished is looked at now, what may be under way when it is quiet.
    func note(_ change: Watcher.Change) {
        let now = ContinuousClock.now
        state.withLock { state in
            if change.isLost { state.agenda.lookAtEverything(now) }
            state.agenda.glance(at: change.saved, now)
            state.agenda.look(at: change.finished, now)
            state.agenda.look(at: change.begun, now + Self.quiet)
            if change.isNudge { state.agenda.wake(now) }
            if change.isLost || !change.finished.isEmpty || !change.begun.isEmpty { state.lastChange = now }
            arm(&state)
        }
    }

    /// Takes what is due; nil when nothing is yet.
    func take() -> Agenda.Reasons? {
        state.withLock { state in
            let reasons = state.agenda.take(.now)
            arm(&state)
            return reasons
        }
    }

    /// Whether the disk changed a moment ago, so that more is likely to come.
    var isUnquiet: Bool {
        state.withLock { state in state.lastChange.map { ContinuousClock.now - $0 < Self.quiet } ?? false }
    }

    func stop() {
        state.withLock { state in state.timer?.task.cancel() }
        sink.finish()
    }

    private func arm(_ state: inout State) {
        guard let next = state.agenda.next else { return }
        if next <= .now {
            sink.yield()
            return
        }
        if let timer = state.timer {
            if timer.at == next { return }
            timer.task.cancel()
        }
        let task = Task { [weak self] in
            try? await Task.sleep(until: next, clock: .continuous)
            if !Task.isCancelled { self?.sink.yield() }
        }
        state.timer = (next, task)
    }
}

import ByteClubCore

/// One cycle after another, each when something on the agenda is due.
struct ContinuousCycles {
    /// How long nothing must happen until memory is given back.
    private static let quiet = Duration.seconds(4)

    private let mirror: Mirror
    private let watcher: Watcher
    private let bell: Bell
    private let rescanInterval: Duration
    private let tell: @Sendable (SyncEvent) -> Void
    private var pace = PollingPace()
    private var trouble: String?
    private var failures = 0
    /// Ends when nothing has happened for a while.
    private var rest: Task<Void, any Error>?
    /// The end of the pause that was told last; nil when there is none.
    private var pause: Int64?

    init(
        _ mirror: Mirror, _ watcher: Watcher, _ bell: Bell, _ configuration: SyncConfiguration,
        _ tell: @escaping @Sendable (SyncEvent) -> Void
    ) {
        self.mirror = mirror
        self.watcher = watcher
        self.bell = bell
        rescanInterval = configuration.rescanInterval
        self.tell = tell
    }

    /// Goes on until the task is cancelled, or throws what only a person can mend; tells after each cycle where the
    /// server's feed goes on.
    mutating func run(_ cursors: AsyncStream<String>.Continuation) async throws {
        bell.plan { $0.lookAtEverything(.now) }
        defer { rest?.cancel() }
        for await _ in bell.rings {
            try Task.checkCancellation()
            guard let reasons = bell.take() else { continue }
            rest?.cancel()
            do {
                try await cycle(reasons)
                failures = 0
            } catch {
                try Task.checkCancellation()
                try await judge(SyncError.wrapping(error), reasons)
            }
            if let cursor = try? await mirror.cursor() { cursors.yield(cursor) }
            rest = Task { [mirror] in
                try await Task.sleep(for: Self.quiet)
                try await mirror.rest()
            }
        }
        try Task.checkCancellation()
    }

    /// Tries again later what may pass.
    private mutating func judge(_ error: SyncError, _ reasons: Agenda.Reasons) async throws {
        guard Self.mayPass(error) || error.code == .database && failures < 3 else { throw error }
        failures += 1
        let pause = min(Duration.milliseconds(500) * (1 << min(failures - 1, 7)), .seconds(60))
        let next = await mirror.seconds + max(1, pause.components.seconds)
        tell(SyncEvent(.problem, message: error.message, until: next))
        bell.plan { $0.putBack(reasons, .now + pause) }
        await mirror.markFeedStale()
    }

    /// Whether a failure may be over later; another's answer in the server's place may be, a wrong token is not.
    private static func mayPass(_ error: SyncError) -> Bool {
        if case .remote(let error) = error.code { return error.code != .unauthorized }
        return error.isRetryable
    }

    private mutating func cycle(_ reasons: Agenda.Reasons) async throws {
        let start = ContinuousClock.now
        watcher.remove(try await mirror.attend(to: reasons.folders.union(reasons.saved.keys)))
        let outcome = try await mirror.cycle(reasons.scope, saved: reasons.saved, waitsForTransfers: false) { [bell] in
            bell.isUnquiet
        }
        if let until = outcome.pausedUntil { return await wait(until) }
        pause = nil
        let now = ContinuousClock.now
        let uptime = await mirror.uptime
        let again = outcome.restless.subtracting(reasons.secondLooks)
        let unwatched = watcher.unwatched(of: outcome.restless)
        bell.plan { agenda in
            if let next = outcome.nextLook { agenda.wake(now + .milliseconds(10) + (next - uptime)) }
            if outcome.isScheduled { agenda.wake(now + .seconds(60)) }
            if outcome.hasSpared { agenda.wake(now + Bell.quiet + .milliseconds(10)) }
            agenda.lookAgain(at: again, now + Fingerprint.racyWindow + .milliseconds(100))
            if reasons.isEverything { agenda.lookAtEverything(now + rescanInterval) }
        }
        try await noteTrouble()
        if trouble != nil { keepLooking(reasons, unwatched, lasting: now - start) }
        tell(SyncEvent(.idle, summary: try await mirror.summary(outcome)))
    }

    /// Looks for what no event will tell.
    private mutating func keepLooking(_ reasons: Agenda.Reasons, _ changed: Set<ItemID>, lasting: Duration) {
        let now = ContinuousClock.now
        let hot = pace.hotFolders(adding: changed, now)
        if !hot.isEmpty { bell.plan { $0.look(at: hot, now + PollingPace.hot) } }
        if reasons.isEverything {
            let pause = pace.afterEverything(foundChanges: !changed.isEmpty, lasting: lasting)
            bell.plan { $0.lookAtEverything(now + pause) }
        } else if !changed.isEmpty {
            bell.plan { $0.lookAtEverything(now + PollingPace.shortest) }
        }
    }

    /// Tells when folders cannot be watched, and when they can again.
    private mutating func noteTrouble() async throws {
        let now = watcher.trouble
        if now == trouble { return }
        if trouble == nil, let now {
            tell(SyncEvent(.problem, message: now))
            bell.plan { $0.lookAtEverything(.now + PollingPace.shortest) }
        }
        trouble = now
        try await mirror.setWatching(now)
    }

    /// Waits until a pause is over; what has happened meanwhile is found by a look at everything.
    private mutating func wait(_ until: Int64) async {
        if until != pause { tell(SyncEvent(pausedUntil: until)) }
        pause = until
        let rest = until == .max ? .max : until - (await mirror.seconds)
        bell.plan { $0.lookAtEverything(.now + .seconds(min(max(rest, 1), 10))) }
    }
}

extension SyncEvent {
    /// Tells a pause that ends at a time in seconds since 1970, or with `Int64.max` when somebody resumes it.
    init(pausedUntil time: Int64) { self.init(.paused, until: time == .max ? nil : time) }
}

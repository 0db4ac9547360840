import ByteClubCore
import Logging
import ServiceLifecycle

extension SyncEngine {
    /// Syncs, and goes on whenever the mirror or the server changes, until the task is cancelled or a graceful shutdown
    /// is asked for.
    ///
    /// Failures that may pass are told as events and tried again, at longer and longer intervals.
    ///
    /// - Throws: ``SyncError`` for what only a person can mend: another engine runs, the mirror is gone, a wrong token.
    public func run() async throws {
        try await cancelWhenGracefulShutdown { [self] in
            do {
                try await keepGoing()
            } catch {
                let error = SyncError.wrapping(error)
                if error.code != .cancelled { throw error }
            }
        }
    }

    private func keepGoing() async throws {
        let mirror = try Mirror(configuration, probe: probe)
        let bell = Bell()
        let watcher = try Watcher { [eventSink] change in
            if case .degraded(let message) = change {
                eventSink.yield(SyncEvent(.problem, message: message))
                bell.ring(at: .now + .seconds(10), everything: true)
            }
            bell.ring(change)
        }
        defer {
            watcher.stop()
            bell.stop()
        }
        do {
            try await mirror.recover()
            await mirror.setWatch { folder, path in watcher.add(folder, path) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                let (cursors, cursorSink) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingNewest(1))
                group.addTask { [self] in try await poll(cursors, bell) }
                group.addTask { [self] in try await cycles(mirror, bell, cursorSink) }
                defer { group.cancelAll() }
                try await group.next()
            }
            try await mirror.close()
        } catch {
            if !(error is SimulatedCrash) { try? await mirror.close() }
            throw error
        }
    }

    /// One cycle for each ring of the bell.
    private func cycles(
        _ mirror: Mirror, _ bell: Bell, _ cursors: AsyncStream<String>.Continuation
    ) async throws {
        var failures = 0
        var lastFull: ContinuousClock.Instant?
        bell.ring(everything: true)
        for await _ in bell.rings {
            let reasons = bell.take()
            if reasons.isEmpty { continue }
            if reasons.isEverything { lastFull = .now }
            let isQuieting = lastFull != nil && !reasons.isEverything
            do {
                try await mirror.checkRoot()
                try await cycle(mirror, bell, reasons.scope, mayDefer: isQuieting)
                failures = 0
            } catch {
                try Task.checkCancellation()
                let error = SyncError.wrapping(error)
                guard error.isRetryable || error.code == .database && failures < 3 else { throw error }
                failures += 1
                logger.warning("sync failed and will be tried again", metadata: ["reason": "\(error.message)"])
                eventSink.yield(SyncEvent(.problem, message: error.message))
                let pause = min(Duration.milliseconds(500) * (1 << min(failures - 1, 7)), .seconds(60))
                bell.ring(at: .now + pause)
                bell.keep(reasons)
            }
            if let cursor = try? await mirror.cursor() { cursors.yield(cursor) }
            if let last = lastFull, ContinuousClock.now - last > configuration.rescanInterval {
                bell.ring(everything: true)
            } else {
                bell.ring(at: (lastFull ?? .now) + configuration.rescanInterval)
            }
        }
        try Task.checkCancellation()
    }

    private func cycle(_ mirror: Mirror, _ bell: Bell, _ scope: ScanScope, mayDefer: Bool) async throws {
        let tally = Tally { [eventSink] in eventSink.yield($0) }
        try await mirror.forgetTransferProblems()
        let cycle = Cycle(mirror, remote, configuration, probe, tally)
        let outcome = try await cycle.run(scope) { mayDefer && bell.isUnquiet(within: .milliseconds(200)) }
        if let next = outcome.nextLook { bell.ring(at: next) }
        if outcome.hasDeferred { bell.ring(at: .now + .milliseconds(210)) }
        var summary = tally.summary
        summary.held = outcome.held
        summary.problems = await mirror.allProblems.count
        summary.isComplete = summary.held == 0 && summary.problems == 0
        eventSink.yield(SyncEvent(.idle, summary: summary))
    }

    /// Waits for the server's changes, one wait after another.
    private func poll(_ cursors: AsyncStream<String>, _ bell: Bell) async throws {
        var hasLongPoll: Bool?
        for await cursor in cursors {
            var failures = 0
            while true {
                do throws(RemoteError) {
                    if hasLongPoll == nil { hasLongPoll = try await remote.features().longPoll }
                    if hasLongPoll == false { try? await Task.sleep(for: .seconds(10)) }
                    let answer = try await remote.waitForChanges(
                        after: cursor, timeout: configuration.longPollTimeout)
                    if let seconds = answer.backoff { try? await Task.sleep(for: .seconds(min(seconds, 300))) }
                    failures = 0
                    if answer.changes { break }
                } catch {
                    try Task.checkCancellation()
                    // A cursor that is refused, or a server that is away: the next cycle finds out.
                    failures += 1
                    let pause = min(Duration.milliseconds(500) * (1 << min(failures - 1, 7)), .seconds(60))
                    try await Task.sleep(for: pause)
                    if error.code == .badCursor || !error.isRetryable { break }
                }
                try Task.checkCancellation()
            }
            bell.ring()
        }
        try Task.checkCancellation()
    }
}

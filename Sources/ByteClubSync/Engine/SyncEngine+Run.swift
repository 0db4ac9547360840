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
    public func run() async throws { try await run(watching: .max) }

    /// Goes on like that, and watches so many folders at most.
    func run(watching limit: Int) async throws {
        try await cancelWhenGracefulShutdown { [self] in
            do {
                try await keepGoing(watching: limit)
            } catch {
                let error = SyncError.wrapping(error)
                if error.code != .cancelled { throw error }
            }
        }
    }

    private func keepGoing(watching limit: Int) async throws {
        let bell = Bell()
        let lock = try takeLock()
        let watcher = try Watcher(nudged: configuration.lockPath, limit: limit) { bell.note($0) }
        defer {
            watcher.stop()
            bell.stop()
        }
        let tally = Tally { [eventSink] in eventSink.yield($0) }
        let mirror = try Mirror(configuration, remote, Surroundings(configuration), tally) { folder, item, isNew in
            watcher.add(folder, item, isNew: isNew)
        }
        try await closing(mirror, lock) {
            try await mirror.recover()
            await mirror.setOnTransferEnd { bell.ring() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                let (cursors, cursorSink) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingNewest(1))
                group.addTask { [self] in try await poll(mirror, cursors, bell) }
                group.addTask { [self] in
                    var cycles = ContinuousCycles(mirror, watcher, bell, configuration) { [eventSink] in
                        eventSink.yield($0)
                    }
                    try await cycles.run(cursorSink)
                }
                if configuration.auditPeriod > .zero {
                    group.addTask { [self] in try await audit(mirror, bell) }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// Reads all files little by little, over and over.
    private func audit(_ mirror: Mirror, _ bell: Bell) async throws {
        while true {
            let (pause, files) = try await mirror.auditStep(in: configuration.auditPeriod)
            try await Task.sleep(for: pause)
            if bell.isUnquiet { continue }
            if try await mirror.audit(files: files) { bell.ring() }
        }
    }

    /// Waits for the server's changes, one wait after another.
    private func poll(_ mirror: Mirror, _ cursors: AsyncStream<String>, _ bell: Bell) async throws {
        var failures = 0
        for await first in cursors {
            var cursor = first
            while true {
                do {
                    guard let next = try await wait(after: cursor, mirror, bell) else { break }
                    cursor = next
                    failures = 0
                } catch {
                    try Task.checkCancellation()
                    // A cursor that is refused, or a server that is away: the next cycle finds out.
                    failures += 1
                    let pause = min(Duration.milliseconds(500) * (1 << min(failures - 1, 7)), .seconds(60))
                    try await Task.sleep(for: pause)
                    await mirror.markFeedStale()
                    bell.ring()
                    break
                }
                try Task.checkCancellation()
            }
        }
        try Task.checkCancellation()
    }

    /// Waits once; the cursor after which to wait next, or nil when a cycle must tell it.
    private func wait(after cursor: String, _ mirror: Mirror, _ bell: Bell) async throws -> String? {
        let features = try await mirror.knownFeatures()
        let start = ContinuousClock.now
        if features.sync, let remote = remote as? any SyncRemote {
            let changes = try await remote.journal(
                after: cursor, limit: 2_000, contents: true, wait: configuration.longPollTimeout)
            if changes.page.entries.isEmpty, !changes.page.hasMore {
                try await restAfterWait(from: start)
                return changes.page.cursor
            }
            try await mirror.deliver(changes, after: cursor)
            bell.ring()
            return changes.page.hasMore ? nil : changes.page.cursor
        }
        if !features.longPoll { try await Task.sleep(for: .seconds(10)) }
        let answer = try await remote.waitForChanges(after: cursor, timeout: configuration.longPollTimeout)
        if let seconds = answer.backoff { try await Task.sleep(for: .seconds(min(seconds, 300))) }
        guard answer.changes else {
            try await restAfterWait(from: start)
            return cursor
        }
        await mirror.markFeedStale()
        bell.ring()
        return nil
    }

    /// A server that has nothing to tell and does not wait is not asked without a rest.
    private func restAfterWait(from start: ContinuousClock.Instant) async throws {
        if start.duration(to: .now) < .seconds(1) { try await Task.sleep(for: .seconds(1)) }
    }
}

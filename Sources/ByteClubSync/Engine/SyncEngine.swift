public import ByteClubCore
import CLinux
import Glibc
public import Logging
public import ServiceLifecycle

/// Keeps a local directory and a folder on a server the same.
///
/// ``runOnce(_:)`` syncs until both agree; ``run()`` goes on for as long as it is let. One mirror has one engine at a
/// time, across processes. Nothing that anybody wrote is lost: it is in the mirror, in a conflict copy, in the mirror's
/// trash (`.byteclub/trash`) or in the server's history.
public final class SyncEngine: Service, Sendable {
    /// What the mirror is.
    public let configuration: SyncConfiguration
    /// What happens while ``run()`` runs; the newest 4,096 events are kept for a slow reader.
    public let events: AsyncStream<SyncEvent>
    let remote: any Remote
    let logger: Logger
    let probe: SyncProbe
    let eventSink: AsyncStream<SyncEvent>.Continuation

    /// Prepares an engine; nothing is opened before it runs.
    ///
    /// - Throws: ``SyncError`` with the code `configuration` when the mirror and its state would lie in each other.
    public convenience init(
        configuration: SyncConfiguration, remote: any Remote, logger: Logger
    ) throws(SyncError) {
        try self.init(configuration: configuration, remote: remote, logger: logger, probe: SyncProbe())
    }

    init(
        configuration: SyncConfiguration, remote: any Remote, logger: Logger, probe: SyncProbe
    ) throws(SyncError) {
        var configuration = configuration
        configuration.directory = try Self.absolute(configuration.directory)
        configuration.stateDirectory = try Self.absolute(configuration.stateDirectory)
        configuration.parallelTransfers = min(max(1, configuration.parallelTransfers), 64)
        configuration.longPollTimeout = min(max(.seconds(30), configuration.longPollTimeout), .seconds(480))
        if (configuration.stateDirectory + "/").utf8.starts(with: (configuration.directory + "/").utf8) {
            throw SyncError(
                .configuration,
                "the state directory '\(configuration.stateDirectory)' lies in the mirror; choose one outside of it")
        }
        self.configuration = configuration
        self.remote = remote
        self.logger = logger
        self.probe = probe
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4_096))
    }

    /// Syncs until mirror and server agree, or only what must wait is left.
    ///
    /// `onEvent` is called from any thread, last with a `summary`. Cancelling the task ends it soon and leaves both
    /// sides in order; the next sync goes on from there.
    ///
    /// - Throws: ``SyncError``; whatever was done until then stays done.
    public func runOnce(_ onEvent: @escaping @Sendable (SyncEvent) -> Void) async throws(SyncError) -> SyncSummary {
        do {
            let mirror = try Mirror(configuration, probe: probe)
            let tally = Tally(onEvent)
            do {
                let summary = try await sync(mirror, tally)
                try await mirror.close()
                return summary
            } catch {
                if !(error is SimulatedCrash) { try? await mirror.close() }
                throw error
            }
        } catch {
            throw SyncError.wrapping(error)
        }
    }

    private func sync(_ mirror: Mirror, _ tally: Tally) async throws -> SyncSummary {
        try await mirror.recover()
        try await mirror.forgetTransferProblems()
        let cycle = Cycle(mirror, remote, configuration, probe, tally)
        var outcome = try await cycle.run(.everything)
        // Files that somebody is writing get two more chances.
        for _ in 0..<2 {
            guard let next = outcome.nextLook else { break }
            try await Task.sleep(until: next, clock: .continuous)
            outcome = try await cycle.run(.folders([]))
        }
        var summary = tally.summary
        let problems = await mirror.allProblems
        let busy = await mirror.busyPaths
        for path in busy {
            tally.noteOnce(SyncEvent(.problem, path: path, message: "it is being written; the next sync takes it"))
        }
        summary.held = outcome.held
        summary.problems = problems.count + busy.count
        summary.isComplete = summary.held == 0 && summary.problems == 0
        tally.note(SyncEvent(.summary, summary: summary))
        return summary
    }

    /// What ``runOnce(_:)`` would do first; changes neither side nor the state.
    public func plan() async throws(SyncError) -> [Step] {
        do {
            let mirror = try Mirror(rehearsing: configuration)
            let cycle = Cycle(mirror, remote, configuration, SyncProbe(), Tally { _ in })
            try await mirror.scan(.everything)
            try await cycle.refresh()
            let work = try await cycle.makeWork()
            try await mirror.close()
            return work.plan.steps
        } catch {
            throw SyncError.wrapping(error)
        }
    }

    /// What a mirror's database knows; neither the mirror nor the server is asked.
    public static func status(of configuration: SyncConfiguration) throws(SyncError) -> SyncStatus {
        let path = configuration.databasePath
        guard unsafe access(path, F_OK) == 0 else { return SyncStatus() }
        do {
            return try MirrorStore.status(at: path)
        } catch {
            throw SyncError.wrapping(error)
        }
    }

    private static func absolute(_ path: String) throws(SyncError) -> String {
        if path.isEmpty || path.utf8.contains(0) { throw SyncError(.configuration, "a directory's path is empty") }
        var base = path
        if !path.hasPrefix("/") {
            guard let working = unsafe getcwd(nil, 0) else {
                throw SyncError(.configuration, "the working directory is gone")
            }
            defer { unsafe free(working) }
            base = unsafe String(cString: working) + "/" + path
        }
        var parts: [Substring] = []
        for part in base.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }
}

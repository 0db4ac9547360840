import ByteClubCore
import Logging
import ServiceLifecycle

/// Makes searches ready for what is written, behind the writers and never in their way.
struct TextIndexing: Service {
    /// How long it gathers changes before it looks at them.
    private static let gathering = Duration.milliseconds(500)
    /// After how long it looks though it heard of no change: another program may have emptied the index.
    private static let interval = Duration.seconds(60)
    /// How long it waits after a failure.
    private static let pause = Duration.seconds(30)
    /// How many times as long as it works it rests while others write, so that they lose a few hundredths at most.
    private static let rest = 30

    let store: any SearchStore & FolderStore & MaintenanceStore
    let logger: Logger

    /// Works until the server stops; what fails is logged and tried again.
    func run() async throws {
        do {
            while true { try await cancelWhenGracefulShutdown { try await work() } }
        } catch is CancellationError {}
    }

    private func work() async throws {
        do {
            let (start, commits) = (ContinuousClock.now, store.statistics.commits.time.count)
            let revision = try await store.indexTexts()
            if store.statistics.commits.time.count > commits + 1 {
                try await Task.sleep(for: start.duration(to: .now) * Self.rest)
            }
            if let revision {
                let isChanged = try await store.waitForChange(after: revision, prefix: .root, timeout: Self.interval)
                if isChanged { try await Task.sleep(for: Self.gathering) }
            }
        } catch let error where !(error is CancellationError) {
            try Task.checkCancellation()
            logger.warning("cannot index texts now, retrying later: \(ServerFault.line(for: error))")
            try await Task.sleep(for: Self.pause)
        }
    }
}

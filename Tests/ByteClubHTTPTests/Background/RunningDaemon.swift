import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

/// A daemon in this process, in the test's folder.
final class RunningDaemon: Sendable {
    let service: BackgroundService
    /// The tasks that ``BackgroundDaemon/finished`` was called with.
    let told = Log<BackgroundStatus>()
    private let task: Task<Void, any Error>

    static func service(_ folder: TemporaryFolder) -> BackgroundService {
        BackgroundService(folder: folder.file("daemon"), command: ["/nonexistent"])
    }

    /// Starts it, and returns when it listens.
    init(_ folder: TemporaryFolder, _ configure: (inout BackgroundDaemon) -> Void = { _ in }) async throws {
        service = Self.service(folder)
        var daemon = BackgroundDaemon(service)
        daemon.finished = { [told] in told.add($0) }
        configure(&daemon)
        task = Task { [daemon] in try await daemon.run() }
        try await eventually("the daemon listens") { try FrameConnection.connect(to: service.socketPath) != nil }
    }

    func control() async throws -> BackgroundControl { try await BackgroundControl(service, isStarting: false) }

    /// Ends the daemon in order.
    func stop() async throws {
        task.cancel()
        try await task.value
    }

    /// Returns when it has ended by itself.
    func ended() async throws { try await task.value }

    /// Has one request done, and returns the task's final status.
    func finish(_ request: BackgroundRequest) async throws -> BackgroundStatus {
        let control = try await control()
        let id = try #require(try await control.submit([request], identifier: "test").first).id
        return try await finished(id, control)
    }

    /// A task's final status.
    func finished(_ id: BackgroundTask.ID, _ control: BackgroundControl) async throws -> BackgroundStatus {
        try #require(try await status(of: id, control) { $0.isFinished })
    }

    /// A task's first status that meets the condition; nil if the daemon ends before.
    func status(
        of id: BackgroundTask.ID, _ control: BackgroundControl, when isWanted: (BackgroundStatus) -> Bool
    ) async throws -> BackgroundStatus? {
        for await status in try await control.updates() where status.id == id && isWanted(status) { return status }
        return nil
    }
}

/// Runs a test with a daemon, and checks that the daemon leaves nothing.
func withDaemon(
    _ folder: TemporaryFolder, _ configure: (inout BackgroundDaemon) -> Void = { _ in },
    _ body: (RunningDaemon) async throws -> Void
) async throws {
    let daemon = try await RunningDaemon(folder, configure)
    do { try await body(daemon) } catch {
        try? await daemon.stop()
        throw error
    }
    try await daemon.stop()
    try await eventually("all transfers are gone") { Transfer.liveCount.load(ordering: .relaxed) == 0 }
}

import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc
import Synchronization

/// Whether the club can be served: the database answers and the disk accepts writes.
///
/// A result is valid for a second, so that frequent checks cost nothing.
final class HealthCheck: Sendable {
    /// How long the database may take.
    static let patience = Duration.seconds(5)
    private static let lifetime = Duration.seconds(1)
    private static let probe = [UInt8](repeating: 0, count: 4096)

    private struct State {
        var checked: ContinuousClock.Instant?
        var problem: String?
    }

    private let store: any FolderStore
    private let directory: String
    private let connections: OpenConnections
    private let state = Mutex(State())

    /// Checks a store and its data directory.
    init(store: any FolderStore, directory: String, connections: OpenConnections) {
        self.store = store
        self.directory = directory
        self.connections = connections
    }

    /// The problem in a few words; nil when there is none.
    func problem(at instant: ContinuousClock.Instant = .now) async -> String? {
        if connections.isDraining { return "stopping" }
        let known = state.withLock { state -> State? in
            guard let checked = state.checked, instant - checked < Self.lifetime else { return nil }
            return state
        }
        if let known { return known.problem }
        let problem = await check()
        state.withLock { $0 = State(checked: .now, problem: problem) }
        return problem
    }

    private func check() async -> String? {
        if let reason = Self.writeProblem(directory) { return "the data directory cannot be written: \(reason)" }
        return await databaseProblem()
    }

    private func databaseProblem() async -> String? {
        let (answers, answer) = AsyncStream<String?>.makeStream()
        let reading = Task { [store] in
            do {
                _ = try await store.read { try $0.state.lastRevision() }
                answer.yield(nil)
            } catch {
                answer.yield("the database does not answer: \(ServerFault.line(for: error))")
            }
        }
        let waiting = Task {
            try await Task.sleep(for: Self.patience)
            answer.yield("the database takes longer than \(Self.patience)")
            reading.cancel()
        }
        defer { waiting.cancel() }
        for await answer in answers { return answer }
        return "the check was cut short"
    }

    /// Writes a block to a new file without a name, as a full or read-only disk would not allow.
    private static func writeProblem(_ directory: String) -> String? {
        let path = directory + "/health-" + Secret.text(bytes: 8)
        do {
            let file = try Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_EXCL)
            unsafe unlink(path)
            try file.write(probe, at: 0)
            return nil
        } catch {
            return "\(error)"
        }
    }
}

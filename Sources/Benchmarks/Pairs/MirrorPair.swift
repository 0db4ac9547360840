import Glibc
import TestSupport

/// Two folders that programs keep the same for as long as they run.
protocol MirrorPair: Sendable {
    /// The folder in which is written.
    var one: String { get }
    /// The folder in which all must appear.
    var two: String { get }
    /// The programs, the first folder's first.
    var processes: [SpawnedProcess] { get }

    /// Whether its programs are there.
    static var isInstalled: Bool { get }

    /// Fills the first folder, then starts the programs below a folder that is empty.
    static func start(in folder: String, fill: (String) throws -> Void) async throws -> Self

    /// Ends what the pair shares, for example its server.
    func close() async
}

extension MirrorPair {
    static var isInstalled: Bool { true }

    func close() async {}

    /// Ends the programs.
    func end() async {
        for process in processes {
            process.send(SIGTERM)
            _ = await process.result()
        }
        await close()
    }

    /// Waits until the second folder has come to what is expected, looking again after each pause.
    ///
    /// - Returns: The seconds that passed since the start given.
    func wait(
        _ what: String, since start: ContinuousClock.Instant = .now, pause: Duration = .microseconds(200),
        limit: Double = 60, until isSo: () throws -> Bool
    ) async throws -> Double {
        while try !isSo() {
            if Stopwatch.seconds(since: start) > limit {
                throw Stopwatch.Failure(description: "\(what) did not arrive within \(limit) s")
            }
            if let ended = processes.first(where: \.hasEnded) {
                throw Stopwatch.Failure(description: "ended early: \(await ended.result())")
            }
            try await Task.sleep(for: pause)
        }
        return Stopwatch.seconds(since: start)
    }
}

import ByteClubHTTP
import HTTPTypes
import Synchronization
import TestSupport

/// Transfers by `ByteClubHTTP` in a process of its own, so that their time and memory can be told.
///
/// `put FILE URL [COUNT]` sends a file, several times at once; `get URL COUNT TASKS` gets what is there, that many tasks
/// at a time; `cancel URL COUNT` cancels tasks in each phase and prints how long their errors took. The peers in
/// `Tests/HTTPPeers` take the same words.
enum SessionClient {
    static func run(_ arguments: [String]) async throws {
        switch (arguments.first, arguments.count) {
        case ("put", 3...4): try await put(arguments[1], arguments[2], Int(arguments.last ?? "") ?? 1)
        case ("get", 4):
            guard let count = Int(arguments[2]), let tasks = Int(arguments[3]) else { fallthrough }
            try await get(arguments[1], count, tasks)
        case ("cancel", 3):
            guard let count = Int(arguments[2]) else { fallthrough }
            try await CancelLatency.run(arguments[1], count)
        default:
            throw Settings.UsageError(
                description: "usage: session put FILE URL [COUNT] | get URL COUNT TASKS | cancel URL COUNT")
        }
    }

    /// Prints how many times progress was told, and how many bytes the last one had.
    private static func put(_ file: String, _ url: String, _ count: Int) async throws {
        let session = try Session(configuration: .ephemeral)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let told = Mutex((count: 0, bytes: Int64(0)))
                    let start = ContinuousClock.now
                    let (_, response) = try await session.upload(
                        for: HTTPRequest(.put, url: url), from: .file(path: file)
                    ) {
                        progress in told.withLock { $0 = ($0.count + 1, progress.bytesSent) }
                    }
                    let (times, bytes) = told.withLock { $0 }
                    print(response.status.code, times, bytes, Table.number(Stopwatch.seconds(since: start), 3))
                }
            }
            try await group.waitForAll()
        }
        await session.finishTasksAndInvalidate()
    }

    private static func get(_ url: String, _ count: Int, _ tasks: Int) async throws {
        var configuration = SessionConfiguration.ephemeral
        configuration.maximumTasksPerHost = tasks
        let session = try Session(configuration: configuration)
        let request = try HTTPRequest(url: url)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<tasks {
                group.addTask {
                    for _ in 0..<(count / tasks) {
                        let (bytes, response) = try await session.data(for: request)
                        guard response.status == .ok, bytes.count == 1024 else {
                            throw Stopwatch.Failure(description: "\(response.status) with \(bytes.count) bytes")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        await session.finishTasksAndInvalidate()
    }
}

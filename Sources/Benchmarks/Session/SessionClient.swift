import ByteClubHTTP
import HTTPTypes
import Synchronization
import TestSupport

/// Transfers by `ByteClubHTTP` in a separate process, for its time and memory.
///
/// `put FILE URL [COUNT [CA]]` sends a file, several times at once; `get URL COUNT TASKS` makes COUNT requests, TASKS
/// at a time; `cancel URL COUNT` cancels tasks in each phase and prints the time to their errors. The peers in
/// `Tests/HTTPPeers` have the same arguments. `queue URL COUNT`, `tls URL CA COUNT`, `progress FILE URL COUNT`, `serial
/// COUNT DIR` and `rate SECONDS` print the figures of ``QueuedTasks``, ``Reconnects``, ``ProgressEvents``,
/// ``SerialUploads`` and ``RateExactness``.
enum SessionClient {
    static func run(_ arguments: [String]) async throws {
        let usage = Settings.UsageError(
            description: """
                usage: session put FILE URL [COUNT [CA]] | get URL COUNT TASKS | cancel URL COUNT | \
                queue URL COUNT | tls URL CA COUNT | progress FILE URL COUNT | serial COUNT DIR | rate SECONDS
                """)
        let number = { (index: Int) throws(Settings.UsageError) -> Int in
            guard let number = Int(arguments[index]) else { throw usage }
            return number
        }
        switch (arguments.first, arguments.count) {
        case ("put", 3...5):
            let count = arguments.count > 3 ? try number(3) : 1
            try await put(arguments[1], arguments[2], count, authority: arguments.count > 4 ? arguments[4] : nil)
        case ("get", 4): try await get(arguments[1], number(2), number(3))
        case ("cancel", 3): try await CancelLatency.run(arguments[1], number(2))
        case ("queue", 3): try await QueuedTasks.run(arguments[1], number(2))
        case ("tls", 4): try await Reconnects.run(arguments[1], arguments[2], number(3))
        case ("progress", 4): try await ProgressEvents.run(arguments[1], arguments[2], number(3))
        case ("serial", 3): try await SerialUploads.run(number(1), in: arguments[2])
        case ("rate", 2): try await RateExactness.run(seconds: number(1))
        default: throw usage
        }
    }

    /// Prints the number of progress events, and the bytes in the last one.
    private static func put(_ file: String, _ url: String, _ count: Int, authority: String?) async throws {
        var configuration = SessionConfiguration.ephemeral
        configuration.certificateAuthorityFile = authority
        let session = try Session(configuration: configuration)
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

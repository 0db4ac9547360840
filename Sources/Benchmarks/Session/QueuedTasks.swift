import ByteClubHTTP
import HTTPTypes
import TestSupport

/// The cost of creating all tasks of a session at once instead of as many as it runs at a time.
enum QueuedTasks {
    private static let width = 6
    private static let rounds = 3

    /// Prints a line for each way: its name, requests per second, and those beside the first way's.
    static func run(_ url: String, _ count: Int) async throws {
        let request = try HTTPRequest(url: url)
        var (asked, queued): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            asked.append(try await time { try await ask(request, count, $0) })
            queued.append(try await time { try await queue(request, count, $0) })
        }
        let base = Double(count) / Measurement.median(asked)
        for (name, seconds) in [("asked six at a time", asked), ("\(count) queued at once", queued)] {
            let rate = Double(count) / Measurement.median(seconds)
            print(name, Table.number(rate, 0), Table.number(rate / base, 2), separator: "\t")
        }
    }

    private static func time(_ work: (Session) async throws -> Void) async throws -> Double {
        var configuration = SessionConfiguration.ephemeral
        configuration.maximumTasksPerHost = width
        let session = try Session(configuration: configuration)
        let start = ContinuousClock.now
        try await work(session)
        let seconds = Stopwatch.seconds(since: start)
        await session.finishTasksAndInvalidate()
        return seconds
    }

    private static func ask(_ request: HTTPRequest, _ count: Int, _ session: Session) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    for _ in 0..<(count / width) { try check(await session.data(for: request).response) }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func queue(_ request: HTTPRequest, _ count: Int, _ session: Session) async throws {
        // In reverse, so that each can be released when it is removed from the end.
        var tasks = (0..<count).map { _ in session.dataTask(request) }
        for task in tasks { task.resume() }
        tasks.reverse()
        while let task = tasks.popLast() { try check(await task.value.response) }
    }

    private static func check(_ response: HTTPResponse) throws {
        guard response.status == .ok else { throw Stopwatch.Failure(description: "\(response.status)") }
    }
}

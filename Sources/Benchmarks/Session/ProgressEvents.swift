import ByteClubHTTP
import HTTPTypes
import Synchronization
import TestSupport

/// The rate of progress events, whether the final one arrives, and their cost.
enum ProgressEvents {
    private struct Told {
        var count = 0
        var bytes: Int64 = 0
    }

    private static let tasks = 6
    private static let rate = 8 << 20

    /// Prints lines of a name and a figure.
    ///
    /// - Parameters:
    ///   - file: The file to send without a limit, with and without a listener, for the difference in processor time.
    ///   - url: The target.
    ///   - count: The number of uploads of each kind.
    /// - Throws: Errors of an upload.
    static func run(_ file: String, _ url: String, _ count: Int) async throws {
        let session = try Session(configuration: .ephemeral)
        let request = try HTTPRequest(.put, url: url)
        var options = TaskOptions()
        options.rateLimit = rate
        let body = [UInt8](repeating: 1, count: rate * 4)
        let start = ContinuousClock.now
        let told = try await withThrowingTaskGroup(of: Told.self) { group in
            for _ in 0..<tasks {
                group.addTask { [options] in try await send(session, request, .bytes(body), options) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let seconds = Stopwatch.seconds(since: start)
        let most = told.map(\.count).max() ?? 0
        print("most events a second and task", Table.number(Double(most) / seconds, 1), separator: "\t")
        print("tasks whose last counters were not told", told.filter { $0.bytes != body.count }.count, separator: "\t")
        var (heard, unheard): ([Double], [Double]) = ([], [])
        var events = 0
        for _ in 0..<count {
            var before = ProcessorTime.ofThisProcess
            events += try await send(session, request, .file(path: file), TaskOptions()).count
            heard.append(ProcessorTime.ofThisProcess - before)
            before = ProcessorTime.ofThisProcess
            _ = try await session.upload(for: request, from: .file(path: file))
            unheard.append(ProcessorTime.ofThisProcess - before)
        }
        await session.finishTasksAndInvalidate()
        let ratio = (heard.min() ?? .nan) / (unheard.min() ?? .nan)
        print("events of an unlimited upload", Table.number(Double(events) / Double(count), 1), separator: "\t")
        print("processor time with a listener, x without", Table.number(ratio, 3), separator: "\t")
    }

    private static func send(_ session: Session, _ request: HTTPRequest, _ body: Body, _ options: TaskOptions)
        async throws -> Told
    {
        let told = Mutex(Told())
        _ = try await session.upload(for: request, from: body, options: options) { progress in
            told.withLock { $0 = Told(count: $0.count + 1, bytes: progress.bytesSent) }
        }
        return told.withLock { $0 }
    }
}

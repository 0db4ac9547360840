import ByteClubHTTP
import HTTPTypes
import TestSupport

/// The time from ``SessionTask/cancel()`` to the error in each phase of a task, beside the machine's least time for it:
/// waking a thread that wakes the caller.
enum CancelLatency {
    private enum Phase: String, CaseIterable {
        case queued, suspended, waiting, sending
    }

    /// Prints a line a phase: its name, then median, 99th percentile and maximum in milliseconds.
    static func run(_ url: String, _ count: Int) async throws {
        guard let thread = WakingThread() else { throw Stopwatch.Failure(description: "the system has no pipe left") }
        var floor: [Double] = []
        for phase in Phase.allCases {
            var configuration = SessionConfiguration.ephemeral
            configuration.maximumTasksPerHost = phase == .queued ? 1 : 1000
            let session = try Session(configuration: configuration)
            let silent = try HTTPRequest(url: url + "/silent")
            let unread = try HTTPRequest(.put, url: url + "/unread")
            let body = [UInt8](repeating: 1, count: 16 << 20)
            if phase == .queued { session.dataTask(silent).resume() }
            var times: [Double] = []
            for _ in 0..<count {
                let task =
                    phase == .sending ? session.uploadTask(unread, from: .bytes(body)) : session.dataTask(silent)
                times.append(await time(task, in: phase))
                // In turns, so that both meet the same load.
                try? await Task.sleep(for: .milliseconds(3))
                let start = ContinuousClock.now
                await thread.call()
                floor.append(Stopwatch.seconds(since: start) * 1000)
            }
            await session.invalidateAndCancel()
            tell(phase.rawValue, times)
        }
        tell("two threads woken, without a session", floor)
    }

    private static func tell(_ name: String, _ times: [Double]) {
        let sorted = times.sorted()
        print(
            name, Table.number(Measurement.median(sorted), 3),
            Table.number(sorted[min(sorted.count - 1, sorted.count * 99 / 100)], 3),
            Table.number(sorted.last ?? .nan, 3), separator: "\t")
    }

    /// The milliseconds until the error is there; not a number when there is another result.
    private static func time(_ task: SessionTask, in phase: Phase) async -> Double {
        task.resume()
        if phase == .suspended { task.suspend() }
        try? await Task.sleep(for: .milliseconds(phase == .sending ? 20 : 3))
        let start = ContinuousClock.now
        task.cancel()
        do {
            _ = try await task.value
            return .nan
        } catch {
            return error.code == .cancelled ? Stopwatch.seconds(since: start) * 1000 : .nan
        }
    }
}

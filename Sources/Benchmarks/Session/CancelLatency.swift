import ByteClubHTTP
import HTTPTypes
import TestSupport

/// How long it takes from ``SessionTask/cancel()`` to the error, in each phase of a task.
enum CancelLatency {
    private enum Phase: String, CaseIterable {
        case queued, suspended, waiting, sending
    }

    /// Prints a line a phase: its name, then median, 99th percentile and maximum in milliseconds.
    static func run(_ url: String, _ count: Int) async throws {
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
            }
            await session.invalidateAndCancel()
            times.sort()
            print(
                phase.rawValue, Table.number(Measurement.median(times), 3),
                Table.number(times[min(times.count - 1, times.count * 99 / 100)], 3),
                Table.number(times.last ?? .nan, 3))
        }
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

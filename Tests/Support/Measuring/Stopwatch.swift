import Glibc

/// Times programs and work of this process.
public enum Stopwatch {
    /// A measurement that failed, with the reason in one line.
    public struct Failure: Error, CustomStringConvertible {
        /// The reason.
        public let description: String

        /// Creates a failure with a reason.
        public init(description: String) { self.description = description }
    }

    /// Runs a program to its end under `time`, for its processor time and peak memory.
    public static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], in folder: String,
        accepts: Set<Int32> = [0]
    ) async throws -> Measurement {
        guard let time = Program.system("time") else { throw Failure(description: "Debian's package time is missing") }
        let path = program.contains("/") ? program : (Program.system(program) ?? Program.path(program))
        let report = folder + "/.time"
        let result = try await Program.run(
            time, ["-q", "-f", "%U %S %M", "-o", report, path] + arguments, environment: environment,
            directory: folder, timeout: .seconds(1200))
        guard accepts.contains(result.status) else { throw Failure(description: "\(result)") }
        let numbers = String(decoding: Fixture.bytes(at: report), as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .compactMap { Double($0) }
        _ = unsafe unlink(report)
        guard numbers.count == 3 else { throw Failure(description: "time told nothing of \(program)") }
        return Measurement(seconds: result.seconds, processor: numbers[0] + numbers[1], memory: numbers[2] / 1024)
    }

    /// Times work of this process.
    public static func time(_ body: () throws -> Void) rethrows -> Measurement {
        let start = ContinuousClock.now
        try body()
        return Measurement(seconds: seconds(since: start))
    }

    /// Seconds from a moment until now.
    public static func seconds(since start: ContinuousClock.Instant) -> Double {
        let passed = (ContinuousClock.now - start).components
        return Double(passed.seconds) + Double(passed.attoseconds) / 1e18
    }
}

/// The time and resources of one contestant in one run.
public struct Measurement: Sendable {
    /// Seconds from start to end.
    public var seconds: Double
    /// Processor seconds of the contestant's own process.
    public var processor: Double
    /// Peak memory of the contestant's own process, in MiB.
    public var memory: Double

    /// Creates a measurement; 0 stands for an unknown figure.
    public init(seconds: Double, processor: Double = 0, memory: Double = 0) {
        (self.seconds, self.processor, self.memory) = (seconds, processor, memory)
    }

    /// The median of each figure.
    public static func median(_ runs: [Measurement]) -> Measurement {
        Measurement(
            seconds: median(runs.map(\.seconds)), processor: median(runs.map(\.processor)),
            memory: median(runs.map(\.memory)))
    }

    /// The median of some values; NaN without values.
    public static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return .nan }
        return sorted.count % 2 == 1
            ? sorted[sorted.count / 2] : (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2
    }

    /// The value that a share of the values (0 to 1) does not exceed; NaN without values.
    public static func percentile(_ share: Double, of values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
}

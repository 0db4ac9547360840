import Glibc
import TestSupport

/// Runs programs and tells what they took.
enum Stopwatch {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a program to its end under `time`, which tells its processor time and memory.
    static func run(
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
    static func time(_ body: () throws -> Void) rethrows -> Measurement {
        let start = ContinuousClock.now
        try body()
        return Measurement(seconds: seconds(since: start))
    }

    static func seconds(since start: ContinuousClock.Instant) -> Double {
        let passed = (ContinuousClock.now - start).components
        return Double(passed.seconds) + Double(passed.attoseconds) / 1e18
    }
}

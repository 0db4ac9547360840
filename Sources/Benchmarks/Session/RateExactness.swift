import ByteClubHTTP
import HTTPTypes
import TestSupport

/// How exactly a limited transfer keeps to its rate, as the receiver sees it.
enum RateExactness {
    private static let rates = [
        ("64 KiB/s", 64 << 10), ("1 MiB/s", 1 << 20), ("10 MiB/s", 10 << 20), ("100 MiB/s", 100 << 20),
    ]

    /// Prints a line per rate and direction: its name, the least and the most of any two seconds in percent of the
    /// rate, and the longest burst in milliseconds at that rate.
    static func run(seconds: Int) async throws {
        let sink = try Sink()
        defer { sink.stop() }
        let session = try Session(configuration: .ephemeral)
        for (name, rate) in rates {
            var options = TaskOptions()
            options.rateLimit = rate
            let body = [UInt8](repeating: 7, count: rate * seconds)
            let request = try HTTPRequest(.put, url: sink.url + "/watched")
            _ = try await session.upload(for: request, from: .bytes(body), options: options)
            tell(name + " up", sink.arrivals.take().pieces, rate)
            tell(name + " down", try await download(session, sink.url + "/endless", options, seconds), rate)
        }
        await session.finishTasksAndInvalidate()
    }

    private static func download(_ session: Session, _ url: String, _ options: TaskOptions, _ seconds: Int)
        async throws -> [Arrivals.Piece]
    {
        let start = ContinuousClock.now
        var pieces: [Arrivals.Piece] = []
        for try await chunk in try await session.bytes(for: HTTPRequest(url: url), options: options).bytes {
            let time = Stopwatch.seconds(since: start)
            pieces.append(Arrivals.Piece(time: time, bytes: chunk.count))
            if time > Double(seconds) { break }
        }
        return pieces
    }

    private static func tell(_ name: String, _ pieces: [Arrivals.Piece], _ rate: Int) {
        let (least, most) = pieces.extremes(in: 2, rate: rate)
        print(
            name, Table.number(least * 100, 1), Table.number(most * 100, 1),
            Table.number(pieces.burst(rate: rate) * 1000, 0), separator: "\t")
    }
}

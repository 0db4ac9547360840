import ByteClubHTTP
import HTTPTypes
import TestSupport

/// Whether a limit of one task per host is exact, and the pause between two bodies.
enum SerialUploads {
    /// Prints a line a version of HTTP: its name, how many bodies overlapped, and the median, the 99th percentile and
    /// the maximum of the milliseconds from one body's end to the next request.
    ///
    /// - Parameters:
    ///   - count: How many uploads of 1 KiB are queued at once.
    ///   - folder: Where nginx, which speaks HTTP/2, keeps its files; without nginx that line is left out.
    ///   - bare: The program in C of `Tests/HTTPPeers`, for the same uploads by libcurl alone; nil to leave them out.
    /// - Throws: When an upload fails, or nginx does not start.
    static func run(_ count: Int, in folder: String, bare: String?) async throws {
        let sink = try Sink()
        defer { sink.stop() }
        try await send(count, to: sink.url, .http1, nil)
        tell("HTTP/1.1", sink.arrivals.take(), count)
        if let bare {
            let file = folder + "/kibibyte"
            try LocalFiles.writeLarge(head: [], length: 1024, seed: 1, to: file)
            _ = try await Stopwatch.run(bare, ["serial", file, sink.url + "/watched", "\(count)"], in: folder)
            tell("HTTP/1.1, libcurl in C", sink.arrivals.take(), count)
        }
        guard let front = try await TLSFront.start(before: sink.url, in: folder) else { return }
        defer { front.stop() }
        try await send(count, to: front.url, .http2, front.authorityFile)
        tell("HTTP/2 over TLS, by nginx", sink.arrivals.take(), count)
    }

    private static func send(_ count: Int, to url: String, _ version: HTTPVersionPreference, _ authority: String?)
        async throws
    {
        var configuration = SessionConfiguration.ephemeral
        configuration.maximumTasksPerHost = 1
        configuration.httpVersion = version
        configuration.certificateAuthorityFile = authority
        let session = try Session(configuration: configuration)
        let request = try HTTPRequest(.put, url: url + "/watched")
        let body = Body.bytes([UInt8](repeating: 1, count: 1024))
        let tasks = (0..<count).map { _ in session.uploadTask(request, from: body) }
        for task in tasks { task.resume() }
        for task in tasks {
            let status = try await task.value.response.status
            guard status == .ok else { throw Stopwatch.Failure(description: "\(status)") }
        }
        await session.finishTasksAndInvalidate()
    }

    private static func tell(_ name: String, _ log: Arrivals.Log, _ count: Int) {
        let gaps = log.gaps.sorted()
        guard log.pieces.count >= count, let most = gaps.last else {
            return print(name, "-", "-", "-", "-", separator: "\t")
        }
        print(
            name, log.overlaps, Table.number(Measurement.median(gaps) * 1000, 3),
            Table.number(gaps[gaps.count * 99 / 100] * 1000, 3), Table.number(most * 1000, 3), separator: "\t")
    }
}

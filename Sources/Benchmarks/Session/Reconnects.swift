import ByteClubHTTP
import HTTPTypes
import TestSupport

/// The time that a resumed TLS session saves.
enum Reconnects {
    /// Prints two lines: the median milliseconds to connect with a full handshake, and with a resumed session, each
    /// relative to the full one.
    ///
    /// - Parameters:
    ///   - url: A server that closes the connection after its answer.
    ///   - authority: The file of its certificate authority.
    ///   - count: The number of connections of each kind, alternating.
    /// - Throws: An error of a request, or when the server keeps a connection open.
    static func run(_ url: String, _ authority: String, _ count: Int) async throws {
        var configuration = SessionConfiguration.ephemeral
        configuration.certificateAuthorityFile = authority
        configuration.httpVersion = .http1
        let kept = try Session(configuration: configuration)
        _ = try await connect(kept, url)
        var (full, resumed): ([Double], [Double]) = ([], [])
        for _ in 0..<count {
            let fresh = try Session(configuration: configuration)
            full.append(try await connect(fresh, url))
            await fresh.finishTasksAndInvalidate()
            resumed.append(try await connect(kept, url))
        }
        await kept.finishTasksAndInvalidate()
        let whole = Measurement.median(full)
        for (name, time) in [("a full handshake", whole), ("a resumed session", Measurement.median(resumed))] {
            print(name, Table.number(time, 3), Table.number(time / whole, 2), separator: "\t")
        }
    }

    /// The milliseconds until a connection was ready.
    private static func connect(_ session: Session, _ url: String) async throws -> Double {
        let task = session.dataTask(try HTTPRequest(url: url))
        task.resume()
        guard let attempt = try await task.value.metrics.attempts.first, !attempt.isReused else {
            throw Stopwatch.Failure(description: "the server kept its connection")
        }
        let time = (attempt.connect + attempt.tls).components
        return Double(time.seconds) * 1000 + Double(time.attoseconds) / 1e15
    }
}

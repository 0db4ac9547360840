import TestSupport
import Testing

/// How many bytes a server that was started with ``arguments`` has moved, also in requests that were cut off.
struct ByteCounters {
    /// What a server is started with to tell.
    static let arguments = ["--metrics-listen", "127.0.0.1:0"]

    private let port: UInt16

    /// Finds where a server tells, which it says once, after each start.
    init(of server: ServerProcess) async throws {
        let line = await server.process?.line(of: .errors) { $0.contains("health and metrics on ") }
        port = try #require(line?.split(separator: ":").last.flatMap { UInt16($0) })
    }

    /// Bytes received.
    func received() async throws -> Int64 { try await value("byteclub_received_bytes_total") }
    /// Bytes sent, or at least given to the system.
    func sent() async throws -> Int64 { try await value("byteclub_sent_bytes_total") }

    private func value(_ name: String) async throws -> Int64 {
        let page = try #require(await RawExchange.send("GET /metrics", port: port)?.text)
        let line = page.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return try #require(line.flatMap { Int64($0.dropFirst(name.utf8.count + 1)) })
    }
}

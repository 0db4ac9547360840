import Glibc
import TestSupport

/// The cost per entry of reads and writes as the shared folder grows: 1,000, 10,000 and 100,000 notes.
enum ScaleCase {
    private static let sizes = [1_000, 10_000, 100_000]
    private static let perFolder = 1_000

    static func run(_ settings: Settings) async throws -> [Table] {
        var runs = Series()
        for _ in 0..<settings.rounds {
            let folder = settings.folder("scale")
            defer { settings.discard(folder) }
            let server = try await ServerProcess(
                data: folder + "/data", arguments: ["--log-level", "warning", "--member-rate", "0"])
            let token = try await server.addMember("ann")
            var filled = 0
            for size in sizes {
                let first = filled
                let fill = try await Load(
                    port: server.port, connections: 64, count: size - filled, statuses: [200]
                ) { put(first + $0, token) }.run()
                filled = size
                runs.add("\(size)", try await measure(size, fill, server, token))
            }
            await server.stop()
        }
        var table = Table(
            title: "A shared folder that grows, \(perFolder) notes to a folder",
            header: [
                "entries", "filled at notes/s", "whole delta, us/entry", "a delta page of 2,000, ms",
                "a folder of \(perFolder), us/entry", "search that finds nothing, us/entry", "put p50 ms", "put p99 ms",
            ])
        for name in runs.names {
            table.rows.append(
                [name] + zip(runs.median(name), [0, 2, 1, 2, 2, 2, 2]).map { Table.number($0, $1) })
        }
        return [table]
    }

    private static func put(_ number: Int, _ token: String) -> [UInt8] {
        let target = "/1/files_put/auto/f\(number / perFolder)/note-\(number).md"
        return RawRequest.send("PUT", target, token: token, body: Array("note \(number)\n".utf8))
    }

    private static func measure(
        _ size: Int, _ fill: Load.Result, _ server: ServerProcess, _ token: String
    ) async throws -> [Double] {
        let delta = try await wholeDelta(server, token)
        let listing = try await repeated(200, server) { number in
            RawRequest.get("/1/metadata/auto/f\(number % (size / perFolder))", token: token)
        }
        let search = try await repeated(10, server) { _ in
            RawRequest.get("/1/search/auto?query=nowhere", token: token)
        }
        // Rewrites of notes that are there, so that the folder keeps its size.
        let puts = try await repeated(300, server) { number in
            let target =
                "/1/files_put/auto/f\(number % (size / perFolder))/note-\(number % (size / perFolder) * perFolder).md"
            return RawRequest.send("PUT", target, token: token, body: Array("again \(size) \(number)\n".utf8))
        }
        return [
            Double(fill.times.count) / fill.seconds, delta.whole / Double(size) * 1e6, delta.page * 1000,
            listing.percentile(0.5) / Double(perFolder) * 1000, search.percentile(0.5) / Double(size) * 1000,
            puts.percentile(0.5), puts.percentile(0.99),
        ]
    }

    private static func repeated(
        _ count: Int, _ server: ServerProcess, _ request: @escaping @Sendable (Int) -> [UInt8]
    ) async throws -> Load.Result {
        try await Load(port: server.port, connections: 1, count: count, statuses: [200], request: request).run()
    }

    /// Seconds for all pages from an empty cursor, and the median of a full page.
    private static func wholeDelta(
        _ server: ServerProcess, _ token: String
    ) async throws -> (whole: Double, page: Double) {
        let port = server.port
        return try await BackgroundThread.run { () -> Result<(whole: Double, page: Double), any Error> in
            Result {
                var client = try LoadClient(port: port)
                defer { client.end() }
                var times: [Double] = []
                var cursor = ""
                while true {
                    let form = Array((cursor.isEmpty ? "" : "cursor=\(cursor)").utf8)
                    let request = RawRequest.send(
                        "POST", "/1/delta", token: token, body: form, type: RawRequest.formType)
                    let page = try client.exchange(request)
                    times.append(page.seconds)
                    guard page.status == 200, let next = JSONMember.text("cursor", in: page.body) else {
                        throw Stopwatch.Failure(description: "a page of changes is none")
                    }
                    cursor = next
                    if JSONMember.isFalse("has_more", in: page.body) { break }
                }
                return (times.reduce(0, +), Measurement.median(times))
            }
        }.get()
    }
}

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
            let ours = try await LoadedServer.start(in: folder)
            var filled = 0
            for size in sizes {
                let first = filled
                let fill = try await ours.load(size - filled, clients: 64) { number in
                    ours.put(path(first + number), Array("note \(first + number)\n".utf8))
                }.run()
                filled = size
                runs.add("\(size)", try await measure(size, fill, ours))
            }
            await ours.server.stop()
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

    private static func path(_ number: Int) -> String { "f\(number / perFolder)/note-\(number).md" }

    private static func measure(_ size: Int, _ fill: Load.Result, _ ours: LoadedServer) async throws -> [Double] {
        let delta = try await wholeDelta(ours)
        let listing = try await ours.load(200) { ours.get("metadata/auto/f\($0 % (size / perFolder))") }.run()
        let search = try await ours.load(10) { _ in ours.get("search/auto?query=nowhere") }.run()
        // Rewrites of notes that are there, so that the folder keeps its size.
        let puts = try await ours.load(300) { number in
            ours.put(path(number % (size / perFolder) * perFolder), Array("again \(size) \(number)\n".utf8))
        }.run()
        return [
            Double(fill.times.count) / fill.seconds, delta.whole / Double(size) * 1e6, delta.page * 1000,
            listing.percentile(0.5) / Double(perFolder) * 1000, search.percentile(0.5) / Double(size) * 1000,
            puts.percentile(0.5), puts.percentile(0.99),
        ]
    }

    /// Seconds for all pages from an empty cursor, and the median of a full page.
    private static func wholeDelta(_ ours: LoadedServer) async throws -> (whole: Double, page: Double) {
        try await BackgroundThread.run { () -> Result<(whole: Double, page: Double), any Error> in
            Result {
                var client = try LoadClient(port: ours.server.port)
                defer { client.end() }
                var times: [Double] = []
                var cursor = ""
                while true {
                    let form = Array((cursor.isEmpty ? "" : "cursor=\(cursor)").utf8)
                    let request = RawRequest.send(
                        "POST", "/1/delta", token: ours.token, body: form, type: RawRequest.formType)
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

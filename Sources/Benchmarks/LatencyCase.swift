import Glibc
import TestSupport

/// How long after a save the edit is in the other mirror.
enum LatencyCase {
    static func run(_ settings: Settings) async throws -> [Table] {
        let folder = settings.folder("latency")
        defer { settings.discard(folder) }
        let club = try await Club.open(["ann", "bo"], in: folder)
        let (ann, bo) = (club.members[0], club.members[1])
        for number in 0..<1000 { try LocalFiles.write("note \(number)\n", to: "\(ann.mirror)/note-\(number).md") }
        for member in [ann, bo] {
            let result = try await member.sync()
            guard result.status == 0 else { throw Stopwatch.Failure(description: "\(result)") }
        }
        let syncs = try [ann, bo].map { try $0.start(["sync", $0.mirror], timeout: .seconds(900)) }
        try await Task.sleep(for: .seconds(2))
        var times: [Double] = []
        for edit in 0..<settings.edits {
            let name = "note-\(edit % 1000).md"
            let text = "edit \(edit) of this note\n"
            let start = ContinuousClock.now
            try LocalFiles.write(text, to: ann.mirror + "/" + name)
            while Fixture.bytes(at: bo.mirror + "/" + name) != Array(text.utf8) {
                if Stopwatch.seconds(since: start) > 30 {
                    throw Stopwatch.Failure(description: "edit \(edit) did not arrive within 30 s")
                }
                try await Task.sleep(for: .microseconds(200))
            }
            times.append(Stopwatch.seconds(since: start) * 1000)
            try await Task.sleep(for: .milliseconds(30))
        }
        for sync in syncs {
            sync.send(SIGTERM)
            _ = await sync.result()
        }
        await club.close()
        times.sort()
        var table = Table(
            title: "Edit saved in one mirror until readable in the other, both ends durable, \(settings.edits) edits",
            header: ["p50 ms", "p90 ms", "p99 ms", "max ms"])
        let at = { (share: Double) in times[min(times.count - 1, Int(Double(times.count) * share))] }
        table.rows = [[at(0.5), at(0.9), at(0.99), times[times.count - 1]].map { Table.number($0, 1) }]
        return [table]
    }
}

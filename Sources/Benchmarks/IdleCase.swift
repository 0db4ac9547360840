import Glibc
import TestSupport

/// What a mirror takes that runs while nothing happens.
enum IdleCase {
    static func run(_ settings: Settings) async throws -> [Table] {
        let folder = settings.folder("idle")
        defer { settings.discard(folder) }
        let club = try await Club.open(["ann"], in: folder)
        let ann = club.members[0]
        for number in 0..<settings.notes {
            let place = "\(ann.mirror)/f\(number / 100)"
            if number % 100 == 0 { LocalFiles.makeFolder(place) }
            try LocalFiles.write("note \(number)\n", to: "\(place)/note-\(number).md")
        }
        let result = try await ann.sync(timeout: .seconds(900))
        guard result.status == 0 else { throw Stopwatch.Failure(description: "\(result)") }
        let sync = try ann.start(["sync", ann.mirror], timeout: .seconds(900))
        try await Task.sleep(for: .seconds(10))
        let before = ProcessorTime.seconds(of: sync.pid)
        let span = 30.0
        try await Task.sleep(for: .seconds(span))
        let used = ProcessorTime.seconds(of: sync.pid) - before
        let memory = ProcessorTime.peakMemory(of: sync.pid)
        sync.send(SIGTERM)
        _ = await sync.result()
        await club.close()
        var table = Table(
            title: "A mirror of \(settings.notes) notes that runs while nothing happens",
            header: ["% of a core", "peak MiB"])
        table.rows = [[Table.number(100 * used / span, 2), Table.number(memory, 1)]]
        return [table]
    }
}

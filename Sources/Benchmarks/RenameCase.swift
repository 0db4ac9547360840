import Glibc
import TestSupport

/// How long after a folder with many notes was renamed in one running mirror it has its name in the other.
enum RenameCase {
    static func run(_ settings: Settings) async throws -> [Table] {
        let folder = settings.folder("rename")
        defer { settings.discard(folder) }
        let club = try await Club.open(["ann", "bo"], in: folder)
        let (ann, bo) = (club.members[0], club.members[1])
        LocalFiles.makeFolder(ann.mirror + "/notes-0")
        for number in 0..<settings.notes {
            try LocalFiles.write("note \(number)\n", to: "\(ann.mirror)/notes-0/note-\(number).md")
        }
        for member in [ann, bo] {
            let result = try await member.sync(timeout: .seconds(900))
            guard result.status == 0 else { throw Stopwatch.Failure(description: "\(result)") }
        }
        let syncs = try [ann, bo].map { try $0.start(["sync", $0.mirror], timeout: .seconds(900)) }
        try await Task.sleep(for: .seconds(4))
        var times: [Double] = []
        for number in 0..<10 {
            let (old, new) = ("/notes-\(number)", "/notes-\(number + 1)")
            let start = ContinuousClock.now
            guard unsafe rename(ann.mirror + old, ann.mirror + new) == 0 else {
                throw Stopwatch.Failure(description: "cannot rename \(old)")
            }
            while unsafe access(bo.mirror + new, F_OK) != 0 {
                if Stopwatch.seconds(since: start) > 30 {
                    throw Stopwatch.Failure(description: "the renaming did not arrive within 30 s")
                }
                try await Task.sleep(for: .microseconds(500))
            }
            times.append(Stopwatch.seconds(since: start) * 1000)
            try await Task.sleep(for: .seconds(1))
        }
        for sync in syncs {
            sync.send(SIGTERM)
            _ = await sync.result()
        }
        await club.close()
        times.sort()
        var table = Table(
            title: "A folder with \(settings.notes) notes renamed in one running mirror until renamed in the other",
            header: ["p50 ms", "max ms"])
        table.rows = [[times[times.count / 2], times[times.count - 1]].map { Table.number($0, 1) }]
        return [table]
    }
}

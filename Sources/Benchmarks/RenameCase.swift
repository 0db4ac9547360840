import Glibc
import TestSupport

/// How long after a folder with many notes was renamed in one running mirror it has its name in the other.
enum RenameCase {
    static func run(_ settings: Settings) async throws -> [Table] {
        let folder = settings.folder("rename")
        defer { settings.discard(folder) }
        let notes = settings.notes
        let pair = try await ByteClubPair.start(in: folder) { root in
            for number in 0..<notes {
                try LocalFiles.write("note \(number)\n", to: "\(root)/notes-0/note-\(number).md")
            }
        }
        var times: [Double] = []
        for number in 0..<10 {
            let (old, new) = ("/notes-\(number)", "/notes-\(number + 1)")
            let start = ContinuousClock.now
            guard unsafe rename(pair.one + old, pair.one + new) == 0 else {
                throw Stopwatch.Failure(description: "cannot rename \(old)")
            }
            times.append(
                1000
                    * (try await pair.wait("the renaming", since: start) {
                        unsafe access(pair.two + new, F_OK) == 0
                    }))
            try await Task.sleep(for: .seconds(1))
        }
        await pair.end()
        times.sort()
        var table = Table(
            title: "A folder with \(notes) notes renamed in one running mirror until renamed in the other",
            header: ["p50 ms", "max ms"])
        table.rows = [[times[times.count / 2], times[times.count - 1]].map { Table.number($0, 1) }]
        return [table]
    }
}

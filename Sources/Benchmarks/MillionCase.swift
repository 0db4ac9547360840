import Glibc
import TestSupport

/// A mirror of a million entries: first upload, first download, and a sync without changes.
enum MillionCase {
    private static let perFolder = 1_000
    private static let folders = 999

    static func run(_ settings: Settings) async throws -> [Table] {
        let folder = settings.folder("million")
        defer { settings.discard(folder) }
        let club = try await Club.open(["ann", "bo"], in: folder, arguments: ["--log-level", "warning"])
        let (ann, bo) = (club.members[0], club.members[1])
        for number in 0..<folders * perFolder {
            try LocalFiles.write("\(number)\n", to: "\(ann.mirror)/f\(number / perFolder)/\(number).md")
        }
        var table = Table(
            title: "A mirror of \(folders * (perFolder + 1)) entries", header: ["", "seconds", "entries/s", "peak MiB"])
        for (name, member) in [("first up", ann), ("first down", bo), ("nothing to do", bo)] {
            let run = try await Stopwatch.run(
                "byteclub", ["sync", member.mirror, "--once", "--json"], environment: member.environment, in: folder)
            table.rows.append([
                name, Table.number(run.seconds, 1), Table.number(Double(folders * (perFolder + 1)) / run.seconds, 0),
                Table.number(run.memory, 1),
            ])
        }
        await club.close()
        return [table]
    }
}

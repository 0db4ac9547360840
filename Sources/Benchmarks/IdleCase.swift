import Glibc
import TestSupport

/// Processor and memory of running mirrors without changes.
enum IdleCase {
    static func run(_ settings: Settings) async throws -> [Table] {
        var table = Table(
            title: "A mirror of \(settings.notes) notes that runs while nothing happens, 30 s",
            header: ["contestant", "% of a core", "peak MiB", "MiB now"])
        let pairs: [(String, any MirrorPair.Type)] = [
            ("byteclub", ByteClubPair.self), ("syncthing", SyncthingPair.self),
            ("unison -repeat 1, both sides", UnisonPair.self),
        ]
        for (name, kind) in pairs where kind.isInstalled {
            table.rows.append([name] + (try await figures(kind, settings)))
        }
        return [table]
    }

    private static func figures(_ kind: any MirrorPair.Type, _ settings: Settings) async throws -> [String] {
        let folder = settings.folder("idle")
        defer { settings.discard(folder) }
        let notes = settings.notes
        let path = { (number: Int) in "/f\(number / 100)/note-\(number).md" }
        let pair = try await kind.start(in: folder) { root in
            for number in 0..<notes { try LocalFiles.write("note \(number)\n", to: root + path(number)) }
        }
        let hasAll = { (0..<notes).reversed().allSatisfy { LocalFiles.exists(pair.two + path($0)) } }
        _ = try await pair.wait("the notes", pause: .milliseconds(500), limit: 300, until: hasAll)
        try await Task.sleep(for: .seconds(20))
        let pid = pair.processes[0].pid
        let before = ProcessorTime.seconds(of: pid)
        let span = 30.0
        try await Task.sleep(for: .seconds(span))
        let used = ProcessorTime.seconds(of: pid) - before
        let memory = [ProcessorTime.peakMemory(of: pid), ProcessorTime.memory(of: pid)]
        await pair.end()
        return [Table.number(100 * used / span, 2)] + memory.map { Table.number($0, 1) }
    }
}

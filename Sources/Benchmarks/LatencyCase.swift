import Glibc
import TestSupport

/// How long after a save the edit is in the other mirror.
enum LatencyCase {
    static func run(_ settings: Settings) async throws -> [Table] {
        var table = Table(
            title: "Edit saved in one of two mirrors of 1,000 notes until readable in the other",
            header: ["contestant", "edits", "p50 ms", "p90 ms", "p99 ms", "max ms", "x syncthing"])
        var contestants = [
            ("byteclub, both ends durable", try await times(ByteClubPair.self, settings, edits: settings.edits))
        ]
        var peer = Double.nan
        if SyncthingPair.isInstalled {
            let times = try await times(SyncthingPair.self, settings, edits: min(settings.edits, 20))
            contestants.append(("syncthing, fsWatcherDelayS=1", times))
            peer = times[times.count / 2]
        }
        if UnisonPair.isInstalled {
            contestants.append(
                ("unison -repeat 1", try await times(UnisonPair.self, settings, edits: min(settings.edits, 20))))
        }
        for (name, times) in contestants {
            let at = { (share: Double) in times[min(times.count - 1, Int(Double(times.count) * share))] }
            table.rows.append(
                [name, "\(times.count)"]
                    + [at(0.5), at(0.9), at(0.99), times[times.count - 1], peer / at(0.5)].map { Table.number($0, 1) })
        }
        return [table]
    }

    /// Milliseconds of each edit, sorted.
    private static func times<Pair: MirrorPair>(
        _: Pair.Type, _ settings: Settings, edits: Int
    ) async throws -> [Double] {
        let folder = settings.folder("latency")
        defer { settings.discard(folder) }
        let pair = try await Pair.start(in: folder) { root in
            for number in 0..<1000 { try LocalFiles.write("note \(number)\n", to: "\(root)/note-\(number).md") }
        }
        let hasAll = { (0..<1000).allSatisfy { LocalFiles.exists("\(pair.two)/note-\($0).md") } }
        _ = try await pair.wait("the notes", pause: .milliseconds(100), until: hasAll)
        try await Task.sleep(for: .seconds(2))
        var times: [Double] = []
        for edit in 0..<edits {
            let name = "note-\(edit % 1000).md"
            let text = "edit \(edit) of this note\n"
            let start = ContinuousClock.now
            try LocalFiles.write(text, to: pair.one + "/" + name)
            times.append(
                1000
                    * (try await pair.wait("edit \(edit)", since: start) {
                        Fixture.bytes(at: pair.two + "/" + name) == Array(text.utf8)
                    }))
            try await Task.sleep(for: .milliseconds(30))
        }
        await pair.end()
        return times.sorted()
    }
}

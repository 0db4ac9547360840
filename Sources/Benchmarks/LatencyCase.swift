import Glibc
import TestSupport

/// How long after a save the edit is in the other mirror.
enum LatencyCase {
    static func run(_ settings: Settings) async throws -> [Table] {
        var table = Table(
            title: "Edit saved in one of two mirrors of 1,000 notes until readable in the other",
            header: ["contestant", "edits", "p50 ms", "p90 ms", "p99 ms", "max ms", "x syncthing"])
        let pairs: [(String, any MirrorPair.Type, edits: Int)] = [
            ("byteclub, both ends durable", ByteClubPair.self, settings.edits),
            (syncthing, SyncthingPair.self, min(settings.edits, 20)),
            ("unison -repeat 1", UnisonPair.self, min(settings.edits, 20)),
        ]
        var contestants: [(String, [Double])] = []
        for (name, kind, edits) in pairs where kind.isInstalled {
            contestants.append((name, try await times(kind, settings, edits: edits)))
        }
        let at = { (share: Double, times: [Double]) in Measurement.percentile(share, of: times) }
        let peer = at(0.5, contestants.first { $0.0 == syncthing }?.1 ?? [])
        for (name, times) in contestants {
            table.rows.append(
                [name, "\(times.count)"]
                    + [at(0.5, times), at(0.9, times), at(0.99, times), at(1, times), peer / at(0.5, times)].map {
                        Table.number($0, 1)
                    })
        }
        return [table]
    }

    private static let syncthing = "syncthing, fsWatcherDelayS=1"

    /// Milliseconds of each edit.
    private static func times(
        _ kind: any MirrorPair.Type, _ settings: Settings, edits: Int
    ) async throws -> [Double] {
        let folder = settings.folder("latency")
        defer { settings.discard(folder) }
        let pair = try await kind.start(in: folder) { root in
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
        return times
    }
}

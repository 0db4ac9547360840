import ByteClubCore
import FoundationEssentials
import Glibc
import TestSupport

/// How soon a command has done its work, beside curl.
enum StartCase {
    static func run(_ settings: Settings) async throws -> [Table] {
        guard Peer.hyperfine.isInstalled else { return [] }
        let folder = settings.folder("start")
        defer { settings.discard(folder) }
        let club = try await Club.open(["ann"], in: folder)
        let ann = club.members[0]
        for number in 0..<100 {
            let text = Array("note \(number)\n".utf8)
            try await ann.byteclub("notes", "add", "note-\(number).md", input: text).succeeded()
        }
        let listing = club.server.url + "/1/metadata/dropbox/byteclub"
        let header = "Authorization: Bearer \(club.tokens[0])"
        // A copy, as after installation: a file fresh from the linker is scattered in memory, and a few percent slower.
        let byteclub = folder + "/byteclub"
        try await Program.run("/bin/cp", [Program.path("byteclub"), byteclub]).succeeded()
        let versions = [("byteclub --version", "\(byteclub) --version"), ("curl --version", "curl --version")]
        let listings = [
            ("byteclub notes list", "\(byteclub) notes list"),
            ("curl GET", "curl -sS -o \(folder)/listing -H '\(header)' \(listing)"),
        ]
        let cold = try await rounds(settings, versions + listings, ann, folder)
        // The same over the connections of a running daemon.
        let daemon = try ann.start(["daemon"], timeout: .seconds(3600))
        while unsafe access(ann.home + "/state/byteclub/transfers/daemon.sock", F_OK) != 0 {
            try await Task.sleep(for: .milliseconds(20))
        }
        let warm = try await rounds(settings, listings, ann, folder)
        daemon.send(SIGTERM)
        _ = await daemon.result()
        await club.close()
        let title = "Start, medians of \(settings.rounds * 10) rounds of 20 runs"
        return [
            cold.table(
                title + ": version", unit: "runs/s", amount: 1, reference: "curl --version", of: versions.map(\.0)),
            cold.table(
                title + ": a listing of 100 notes", unit: "runs/s", amount: 1, reference: "curl GET",
                of: listings.map(\.0)),
            warm.table(
                title + ": a listing of 100 notes, with a daemon (goal 0.6 x in time)", unit: "runs/s", amount: 1,
                reference: "curl GET"),
        ]
    }

    /// The times of some commands, in short rounds by turns, since how fast a machine starts programs changes from one
    /// second to the next.
    private static func rounds(
        _ settings: Settings, _ commands: [(name: String, text: String)], _ member: MemberMachine, _ folder: String
    ) async throws -> Runs {
        let report = folder + "/report.json"
        var runs = Runs()
        for _ in 0..<settings.rounds * 10 {
            try await Program.run(
                Program.system("hyperfine") ?? "hyperfine",
                ["-N", "--warmup", "2", "--runs", "20", "--export-json", report] + commands.map(\.text),
                environment: member.environment, directory: folder, timeout: .seconds(600)
            ).succeeded()
            let parsed = try JSONDecoder().decode(Report.self, from: Data(Fixture.bytes(at: report)))
            for (command, row) in zip(commands, parsed.results) {
                runs.add(command.name, Measurement(seconds: row.median, processor: row.user + row.system))
            }
        }
        return runs
    }

    private struct Report: Decodable {
        struct Row: Decodable {
            let median: Double
            let user: Double
            let system: Double
        }
        let results: [Row]
    }
}

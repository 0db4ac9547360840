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
            let added = try await ann.byteclub("notes", "add", "note-\(number).md", input: text)
            guard added.status == 0 else { throw Stopwatch.Failure(description: "\(added)") }
        }
        let listing = club.server.url + "/1/metadata/dropbox/byteclub"
        let header = "Authorization: Bearer \(club.tokens[0])"
        // A copy, as after installation: a file fresh from the linker is scattered in memory, and a few percent slower.
        let byteclub = folder + "/byteclub"
        let copied = try await Program.run("/bin/cp", [Program.path("byteclub"), byteclub])
        guard copied.status == 0 else { throw Stopwatch.Failure(description: "\(copied)") }
        let commands = [
            "\(byteclub) --version", "curl --version", "\(byteclub) notes list",
            "curl -sS -o \(folder)/listing -H '\(header)' \(listing)",
        ]
        // In short rounds by turns, since how fast a machine starts programs changes from one second to the next.
        var times = [[Measurement]](repeating: [], count: commands.count)
        for _ in 0..<settings.rounds * 10 {
            for (index, time) in try await hyperfine(commands, ann, folder).enumerated() { times[index].append(time) }
        }
        // The same over the connections of a running daemon.
        let daemon = try ann.start(["daemon"], timeout: .seconds(3600))
        while unsafe access(ann.home + "/state/byteclub/transfers/daemon.sock", F_OK) != 0 {
            try await Task.sleep(for: .milliseconds(20))
        }
        let warmCommands = Array(commands[2...])
        var warm = [[Measurement]](repeating: [], count: warmCommands.count)
        for _ in 0..<settings.rounds * 10 {
            for (index, time) in try await hyperfine(warmCommands, ann, folder).enumerated() {
                warm[index].append(time)
            }
        }
        daemon.send(SIGTERM)
        _ = await daemon.result()
        await club.close()
        let title = "Start, medians of \(settings.rounds * 10) rounds of 20 runs"
        return [
            Table.race(
                title + ": version", unit: "runs/s", amount: 1, reference: "curl --version",
                [("byteclub --version", times[0]), ("curl --version", times[1])]),
            Table.race(
                title + ": a listing of 100 notes", unit: "runs/s", amount: 1, reference: "curl GET",
                [("byteclub notes list", times[2]), ("curl GET", times[3])]),
            Table.race(
                title + ": a listing of 100 notes, with a daemon (goal 0.6 x in time)", unit: "runs/s", amount: 1,
                reference: "curl GET", [("byteclub notes list", warm[0]), ("curl GET", warm[1])]),
        ]

        func hyperfine(_ commands: [String], _ member: MemberMachine, _ folder: String) async throws
            -> [Measurement]
        {
            let report = folder + "/report.json"
            let result = try await Program.run(
                Program.system("hyperfine") ?? "hyperfine",
                ["-N", "--warmup", "2", "--runs", "20", "--export-json", report] + commands,
                environment: member.environment, directory: folder, timeout: .seconds(600))
            guard result.status == 0 else { throw Stopwatch.Failure(description: "\(result)") }
            let parsed = try JSONDecoder().decode(Report.self, from: Data(Fixture.bytes(at: report)))
            return parsed.results.map { Measurement(seconds: $0.median, processor: $0.user + $0.system) }
        }
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

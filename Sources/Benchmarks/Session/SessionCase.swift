import TestSupport

/// The HTTP session beside the curl tool, AsyncHTTPClient and FoundationNetworking, against a server in this process.
///
/// Each contestant is a process of its own; its processor time and memory are told, which load does not change as it
/// does the time on the clock.
enum SessionCase {
    private static let ours = "byteclub"
    private static let curl = "curl, without Expect"

    static func run(_ settings: Settings) async throws -> [Table] {
        let folder = settings.folder("session")
        defer { settings.discard(folder) }
        let sink = try Sink()
        defer { sink.stop() }
        let (small, large) = (folder + "/small", folder + "/large")
        try LocalFiles.writeLarge(head: [], length: 64 << 20, seed: 1, to: small)
        try LocalFiles.writeLarge(head: [], length: settings.mebibytes << 20, seed: 2, to: large)
        return [
            try await race(
                "PUT of \(settings.mebibytes) MiB to a server that throws it away", "MiB/s", Double(settings.mebibytes),
                curl, uploads(settings, large, sink.url + "/put"), settings.rounds, folder),
            try await race(
                "20,000 GET of 1 KiB, one at a time", "requests/s", 20_000, ours,
                gets(settings, sink.url + "/get", 20_000, 1),
                settings.rounds, folder),
            try await race(
                "20,000 GET of 1 KiB, six at a time", "requests/s", 20_000, ours,
                gets(settings, sink.url + "/get", 20_000, 6),
                settings.rounds, folder),
            try await memory(small, large, sink.url + "/put", settings, folder),
            try await cancellation(sink.url, folder),
        ]
    }

    private struct Contestant {
        let name: String
        let program: String
        let arguments: [String]
    }

    /// The programs of `Tests/HTTPPeers`, whose folder `Config/bench` tells.
    private static func peers(_ settings: Settings, _ arguments: [String]) -> [Contestant] {
        guard let folder = settings.peers else { return [] }
        return [("AsyncHTTPClient", "async-http-client"), ("FoundationNetworking", "foundation-networking")]
            .filter { LocalFiles.exists("\(folder)/\($0.1)") }
            .map { Contestant(name: $0.0, program: "\(folder)/\($0.1)", arguments: arguments) }
    }

    private static func own(_ arguments: [String]) -> Contestant {
        Contestant(name: ours, program: Program.path("Benchmarks"), arguments: ["session"] + arguments)
    }

    private static func uploads(_ settings: Settings, _ file: String, _ url: String) -> [Contestant] {
        [
            own(["put", file, url]),
            Contestant(name: curl, program: "curl", arguments: ["-sSf", "-H", "Expect:", "-T", file, url]),
            Contestant(name: "curl", program: "curl", arguments: ["-sSf", "-T", file, url]),
        ] + peers(settings, ["put", file, url])
    }

    private static func gets(_ settings: Settings, _ url: String, _ count: Int, _ tasks: Int) -> [Contestant] {
        [own(["get", url, "\(count)", "\(tasks)"])] + peers(settings, ["get", url, "\(count)", "\(tasks)"])
    }

    private static func race(
        _ title: String, _ unit: String, _ amount: Double, _ reference: String, _ contestants: [Contestant],
        _ rounds: Int, _ folder: String
    ) async throws -> Table {
        var runs = [[Measurement]](repeating: [], count: contestants.count)
        for _ in 0..<rounds {
            for (index, contestant) in contestants.enumerated() {
                runs[index].append(
                    try await Stopwatch.run(contestant.program, contestant.arguments, in: folder))
            }
        }
        let medians = runs.map { Measurement.median($0) }
        let base = zip(contestants, medians).first { $0.0.name == reference }?.1
        var table = Table(
            title: title,
            header: ["contestant", unit, "x \(reference)", "CPU s", "CPU x \(reference)", "CPU µs each", "peak MiB"])
        for (contestant, run) in zip(contestants, medians) {
            table.rows.append([
                contestant.name, Table.number(amount / run.seconds, 0),
                Table.number((base?.seconds ?? .nan) / run.seconds, 2), Table.number(run.processor, 2),
                Table.number(run.processor / (base?.processor ?? .nan), 2),
                Table.number(run.processor * 1e6 / amount, 1), Table.number(run.memory, 1),
            ])
        }
        return table
    }

    /// What uploads hold in memory, however long and however many at once.
    private static func memory(
        _ small: String, _ large: String, _ url: String, _ settings: Settings, _ folder: String
    ) async throws -> Table {
        var table = Table(title: "Memory of uploads", header: ["upload", "peak MiB"])
        for (name, file, count) in [
            ("64 MiB", small, 1), ("\(settings.mebibytes) MiB", large, 1), ("six of 64 MiB at once", small, 6),
        ] {
            var peaks: [Double] = []
            for _ in 0..<settings.rounds {
                let client = own(["put", file, url, "\(count)"])
                peaks.append(try await Stopwatch.run(client.program, client.arguments, in: folder).memory)
            }
            table.rows.append([name, Table.number(Measurement.median(peaks), 1)])
        }
        return table
    }

    private static func cancellation(_ url: String, _ folder: String) async throws -> Table {
        let client = own(["cancel", url, "300"])
        let result = try await Program.run(client.program, client.arguments, timeout: .seconds(300))
        guard result.status == 0 else { throw Stopwatch.Failure(description: "\(result)") }
        var table = Table(
            title: "From cancel to the error, 300 times each", header: ["phase", "median ms", "p99 ms", "maximum ms"])
        for line in result.lines { table.rows.append(line.split(separator: " ").map(String.init)) }
        return table
    }
}

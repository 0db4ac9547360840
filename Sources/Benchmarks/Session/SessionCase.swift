import TestSupport

/// The HTTP session beside the curl tool, AsyncHTTPClient and FoundationNetworking, against a server in this process.
///
/// Each contestant is a separate process; its processor time and memory are listed, since other load changes them less
/// than the elapsed time.
enum SessionCase {
    private static let ours = "byteclub"
    private static let curl = "curl, without Expect"
    private static let bare = "libcurl in C"

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
            try await lines(
                "100,000 GET of 1 KiB", ["asked", "requests/s", "x asked six at a time"],
                ["queue", sink.url + "/get", "100000"]),
            try await lines(
                "From cancel to the error, 300 times each", ["phase", "median ms", "p99 ms", "maximum ms"],
                ["cancel", sink.url, "300"]),
            try await lines(
                "Progress", ["of six uploads at 8 MiB/s, then of the large file", "figure"],
                ["progress", large, sink.url + "/put", "\(settings.rounds)"]),
            try await lines(
                "10,000 uploads of 1 KiB, one at a time",
                ["over", "overlaps", "median ms between", "p99 ms", "maximum ms"],
                ["serial", "10000", folder]),
            try await lines(
                "Rate limits, as the receiver sees them",
                ["limit", "least of 2 s in %", "most in %", "burst in ms of the rate"], ["rate", "8"]),
        ] + (try await secure(settings, large, sink, folder))
    }

    /// Over TLS 1.3, where nginx is installed.
    private static func secure(_ settings: Settings, _ file: String, _ sink: Sink, _ folder: String) async throws
        -> [Table]
    {
        guard let front = try await TLSFront.start(before: sink.url, in: folder) else { return [] }
        defer { front.stop() }
        let (url, authority) = (front.url + "/put", front.authorityFile)
        let plain = "curl --http1.1"
        let arguments = ["-sSf", "--http1.1", "--cacert", authority, "-H", "Expect:", "-T", file, url]
        return [
            try await race(
                "PUT of \(settings.mebibytes) MiB over TLS 1.3", "MiB/s", Double(settings.mebibytes), plain,
                [
                    own(["put", file, url, "1", authority]),
                    Contestant(name: plain, program: "curl", arguments: arguments),
                ], settings.rounds, folder),
            try await lines(
                "Connecting over TLS 1.3, 200 times each", ["with", "median ms", "x full"],
                ["tls", front.url + "/close", authority, "200"]),
        ]
    }

    private struct Contestant {
        let name: String
        let program: String
        let arguments: [String]
    }

    /// The programs of `Tests/HTTPPeers`, in the folder that `Config/bench` passes.
    private static func peers(_ settings: Settings, _ arguments: [String]) -> [Contestant] {
        guard let folder = settings.peers else { return [] }
        return [
            (bare, "bare-libcurl"), ("AsyncHTTPClient", "async-http-client"),
            ("FoundationNetworking", "foundation-networking"),
        ]
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

    /// The contestants' ratios are to libcurl in C where it takes part, else to `substitute`.
    private static func race(
        _ title: String, _ unit: String, _ amount: Double, _ substitute: String, _ contestants: [Contestant],
        _ rounds: Int, _ folder: String
    ) async throws -> Table {
        let reference = contestants.contains { $0.name == bare } ? bare : substitute
        var runs = Runs()
        for _ in 0..<rounds {
            for contestant in contestants {
                runs.add(
                    contestant.name, try await Stopwatch.run(contestant.program, contestant.arguments, in: folder))
            }
        }
        let base = runs.median(reference)
        var table = Table(
            title: title,
            header: ["contestant", unit, "x \(reference)", "CPU s", "CPU x \(reference)", "CPU µs each", "peak MiB"])
        for name in contestants.map(\.name) {
            let run = runs.median(name)
            table.rows.append([
                name, Table.number(amount / run.seconds, 0),
                Table.number(base.seconds / run.seconds, 2), Table.number(run.processor, 2),
                Table.number(run.processor / base.processor, 2),
                Table.number(run.processor * 1e6 / amount, 1), Table.number(run.memory, 1),
            ])
        }
        return table
    }

    /// The memory for uploads, which is independent of their length and number.
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

    /// A table of the lines that a client prints.
    private static func lines(_ title: String, _ header: [String], _ arguments: [String]) async throws -> Table {
        let client = own(arguments)
        let result = try await Program.run(client.program, client.arguments, timeout: .seconds(300)).succeeded()
        return Table(
            title: title, header: header, rows: result.lines.map { $0.split(separator: "\t").map(String.init) })
    }
}

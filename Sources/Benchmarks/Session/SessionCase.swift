import TestSupport

/// The HTTP session beside libcurl in C, the curl tool, AsyncHTTPClient and FoundationNetworking, against a server in
/// this process.
///
/// Each contestant is a separate process that does nothing else; its processor time and memory are listed, since other
/// load changes them less than the elapsed time. The programs are those of `Tests/HTTPPeers`.
enum SessionCase {
    private static let bare = "libcurl in C"

    static func run(_ settings: Settings) async throws -> [Table] {
        let folder = settings.folder("session")
        defer { settings.discard(folder) }
        let sink = try Sink()
        defer { sink.stop() }
        let (small, large) = (folder + "/small", folder + "/large")
        try LocalFiles.writeLarge(head: [], length: 64 << 20, seed: 1, to: small)
        try LocalFiles.writeLarge(head: [], length: settings.mebibytes << 20, seed: 2, to: large)
        return try await costs(settings, small, large, sink, folder) + [
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
                ["serial", "10000", folder] + (Peers(settings).map { [$0.bare] } ?? [])),
            try await lines(
                "Rate limits, as the receiver sees them",
                ["limit", "least of 2 s in %", "most in %", "burst in ms of the rate"], ["rate", "8"]),
        ] + (try await reconnects(sink, folder))
    }

    /// What transfers cost: nothing without the programs of `Tests/HTTPPeers`.
    private static func costs(
        _ settings: Settings, _ small: String, _ large: String, _ sink: Sink, _ folder: String
    ) async throws -> [Table] {
        guard let peers = Peers(settings) else { return [] }
        let amount = Double(settings.mebibytes)
        var tables = [
            try await race(
                "PUT of \(settings.mebibytes) MiB to a server that throws it away", "MiB/s", amount, bare,
                peers.all(["put", large, sink.url + "/put"]) + [
                    Contestant(
                        "curl, without Expect", "curl", ["-sSf", "-H", "Expect:", "-T", large, sink.url + "/put"]),
                    Contestant("curl", "curl", ["-sSf", "-T", large, sink.url + "/put"]),
                ], settings.rounds, folder)
        ]
        for (tasks, name) in [(1, "one"), (6, "six")] {
            let arguments = [sink.url + "/get", "20000", "\(tasks)"]
            let parallel = tasks > 1 ? ["-Z", "--parallel-max", "\(tasks)"] : []
            tables.append(
                try await race(
                    "20,000 GET of 1 KiB, \(name) at a time", "requests/s", 20_000, bare,
                    peers.all(["get"] + arguments) + [
                        Contestant("the same, asked by threads", peers.bare, ["ask"] + arguments),
                        Contestant(
                            "curl", "curl", ["-sSf", "-o", "/dev/null"] + parallel + [sink.url + "/get?[1-20000]"]),
                    ], settings.rounds, folder))
        }
        tables.append(try await memory(peers, small, large, sink.url + "/put", settings, folder))
        guard let front = try await TLSFront.start(before: sink.url, in: folder) else { return tables }
        defer { front.stop() }
        let (url, authority) = (front.url + "/put", front.authorityFile)
        let plain = "curl --http1.1"
        let arguments = ["-sSf", "--http1.1", "--cacert", authority, "-H", "Expect:", "-T", large, url]
        tables.append(
            try await race(
                "PUT of \(settings.mebibytes) MiB over TLS 1.3", "MiB/s", amount, plain,
                [peers.own(["put", large, url, "1", authority]), Contestant(plain, "curl", arguments)],
                settings.rounds, folder))
        return tables
    }

    /// Connecting over TLS 1.3, where nginx is installed.
    private static func reconnects(_ sink: Sink, _ folder: String) async throws -> [Table] {
        guard let front = try await TLSFront.start(before: sink.url, in: folder) else { return [] }
        defer { front.stop() }
        return [
            try await lines(
                "Connecting over TLS 1.3, 200 times each", ["with", "median ms", "x full"],
                ["tls", front.url + "/close", front.authorityFile, "200"])
        ]
    }

    private struct Contestant {
        let name: String
        let program: String
        let arguments: [String]

        init(_ name: String, _ program: String, _ arguments: [String]) {
            self.name = name
            self.program = program
            self.arguments = arguments
        }
    }

    /// The programs of `Tests/HTTPPeers`, in the folder that `Config/bench` passes.
    private struct Peers {
        let folder: String
        let bare: String

        init?(_ settings: Settings) {
            guard let folder = settings.peers, LocalFiles.exists("\(folder)/byteclub-http") else { return nil }
            self.folder = folder
            bare = "\(folder)/bare-libcurl"
        }

        func own(_ arguments: [String]) -> Contestant {
            Contestant("byteclub", "\(folder)/byteclub-http", arguments)
        }

        func all(_ arguments: [String]) -> [Contestant] {
            [
                own(arguments), Contestant(SessionCase.bare, bare, arguments),
                Contestant("AsyncHTTPClient", "\(folder)/async-http-client", arguments),
                Contestant("FoundationNetworking", "\(folder)/foundation-networking", arguments),
            ]
        }
    }

    private static func race(
        _ title: String, _ unit: String, _ amount: Double, _ reference: String, _ contestants: [Contestant],
        _ rounds: Int, _ folder: String
    ) async throws -> Table {
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

    /// The memory for uploads, which in ours is independent of their length and number.
    private static func memory(
        _ peers: Peers, _ small: String, _ large: String, _ url: String, _ settings: Settings, _ folder: String
    ) async throws -> Table {
        let contestants = { (file: String, count: Int) in
            let all = Array(repeating: ["-T", file, url], count: count).flatMap(\.self)
            return peers.all(["put", file, url, "\(count)"]) + [
                Contestant("curl", "curl", ["-sSf", "-Z", "-H", "Expect:"] + all)
            ]
        }
        var table = Table(
            title: "Memory of uploads, peak MiB", header: ["upload"] + contestants(small, 1).map(\.name))
        for (name, file, count) in [
            ("64 MiB", small, 1), ("\(settings.mebibytes) MiB", large, 1), ("six of 64 MiB at once", small, 6),
        ] {
            var row = [name]
            for client in contestants(file, count) {
                var peaks: [Double] = []
                for _ in 0..<settings.rounds {
                    peaks.append(try await Stopwatch.run(client.program, client.arguments, in: folder).memory)
                }
                row.append(Table.number(Measurement.median(peaks), 1))
            }
            table.rows.append(row)
        }
        return table
    }

    /// A table of the lines that a client prints.
    private static func lines(_ title: String, _ header: [String], _ arguments: [String]) async throws -> Table {
        let result = try await Program.run(
            Program.path("Benchmarks"), ["session"] + arguments, timeout: .seconds(300)
        ).succeeded()
        return Table(
            title: title, header: header, rows: result.lines.map { $0.split(separator: "\t").map(String.init) })
    }
}

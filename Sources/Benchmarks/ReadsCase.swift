import Glibc
import TestSupport

/// A listing of 10,000 children, the same with its hash known, and one large photo down beside nginx with sendfile.
enum ReadsCase {
    /// How many notes are in the folder that is listed.
    private static let children = 10_000

    static func run(_ settings: Settings) async throws -> [Table] {
        let folder = settings.folder("reads")
        defer { settings.discard(folder) }
        let ours = try await LoadedServer.start(in: folder, arguments: ["--body-limit", "17179869184"])
        let listings = try await listings(settings, ours)
        let downloads = try await downloads(settings, ours, folder)
        await ours.server.stop()
        return [listings, downloads]
    }

    private static func listings(_ settings: Settings, _ ours: LoadedServer) async throws -> Table {
        _ = try await ours.load(children, clients: 64) { number in
            ours.put("many/note-\(number).md", Array("note \(number)\n".utf8))
        }.run()
        let target = "metadata/auto/many"
        var client = try LoadClient(port: ours.server.port)
        defer { client.end() }
        let listing = try client.exchange(ours.get(target)).body
        guard let hash = JSONMember.text("hash", in: listing) else {
            throw Stopwatch.Failure(description: "the listing has no hash")
        }
        var runs = Series()
        for _ in 0..<settings.rounds {
            for (name, target, status, clients, count) in [
                ("listing, 1 client", target, 200, 1, 200), ("listing, 8 clients", target, 200, 8, 200),
                ("hash known (304), 1 client", target + "?hash=" + hash, 304, 1, 2000),
                ("hash known (304), 64 clients", target + "?hash=" + hash, 304, 64, 20_000),
            ] {
                let load = ours.load(count, clients: clients, status: status) { _ in ours.get(target) }
                runs.add(name, try await load.figures(of: ours.pid))
            }
        }
        var table = Table(
            title: "`metadata` of a folder with \(children) children, \(listing.count >> 10) KiB",
            header: ["request", "p50 ms", "p99 ms", "answers/s", "server CPU ms", "server peak MiB"])
        for name in runs.names {
            table.rows.append(
                [name] + runs.cells(name, [(1, 2), (2, 2), (0, 0), (3, 2)])
                    + [Table.number(ProcessorTime.peakMemory(of: try ours.pid), 0)])
        }
        return table
    }

    private static func downloads(_ settings: Settings, _ ours: LoadedServer, _ folder: String) async throws -> Table {
        let nginx = try await Nginx.start(in: folder)
        let photo = nginx.root + "/photo.jpg"
        try LocalFiles.writeLarge(
            head: Fixture.bytes("panoramas/city.jpg"), length: settings.mebibytes << 20, seed: 3, to: photo)
        let header = ["-H", "Authorization: Bearer \(ours.token)"]
        try await Program.run(
            "/usr/bin/curl",
            ["-sSf", "-o", "/dev/null", "-H", "Expect:", "-T", photo] + header + [
                ours.server.url + "/1/files_put/auto/photo.jpg"
            ], timeout: .seconds(300)
        ).succeeded()
        let contestants: [(String, [String], pid_t)] = [
            (sendfile, [nginx.url + "/photo.jpg"], nginx.process.pid),
            ("byteclub", header + [ours.server.url + "/1/files/auto/photo.jpg"], try ours.pid),
        ]
        var runs = Series()
        for round in 0...settings.rounds * 3 {
            for (name, arguments, pid) in contestants {
                let before = ProcessorTime.seconds(of: pid)
                let run = try await Stopwatch.run("curl", ["-sSf", "-o", "/dev/null"] + arguments, in: folder)
                // The first round fills the caches.
                if round == 0 { continue }
                runs.add(
                    name,
                    [
                        Double(settings.mebibytes) / run.seconds, run.processor,
                        ProcessorTime.seconds(of: pid) - before, ProcessorTime.peakMemory(of: pid),
                    ])
            }
        }
        await nginx.end()
        var table = Table(
            title: "A photo of \(settings.mebibytes) MiB down, curl to /dev/null, medians of \(settings.rounds * 3)",
            header: ["server", "MiB/s", "x nginx", "client CPU s", "server CPU s", "server peak MiB"])
        for name in runs.names {
            let ratio = runs.median(name)[0] / runs.median(sendfile)[0]
            table.rows.append(
                [name] + runs.cells(name, [(0, 0)]) + [Table.number(ratio, 2)]
                    + runs.cells(name, [(1, 2), (2, 2), (3, 0)]))
        }
        return table
    }

    private static let sendfile = "nginx, sendfile"
}

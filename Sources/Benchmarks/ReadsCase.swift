import Glibc
import TestSupport

/// A listing of 10,000 children, the same with its hash known, and one large photo down beside nginx with sendfile.
enum ReadsCase {
    /// How many notes are in the folder that is listed.
    private static let children = 10_000

    static func run(_ settings: Settings) async throws -> [Table] {
        let folder = settings.folder("reads")
        defer { settings.discard(folder) }
        let server = try await ServerProcess(
            data: folder + "/data",
            arguments: ["--log-level", "warning", "--member-rate", "0", "--body-limit", "17179869184"])
        let token = try await server.addMember("ann")
        guard let pid = server.process?.pid else { throw Stopwatch.Failure(description: "the server has ended") }
        let listings = try await listings(settings, server, token, pid)
        let downloads = try await downloads(settings, server, token, pid, folder)
        await server.stop()
        return [listings, downloads]
    }

    private static func listings(
        _ settings: Settings, _ server: ServerProcess, _ token: String, _ pid: pid_t
    ) async throws -> Table {
        _ = try await Load(port: server.port, connections: 64, count: children, statuses: [200]) { number in
            let target = "/1/files_put/auto/many/note-\(number).md"
            return RawRequest.send("PUT", target, token: token, body: Array("note \(number)\n".utf8))
        }.run()
        let target = "/1/metadata/auto/many"
        var client = try LoadClient(port: server.port)
        defer { client.end() }
        let listing = try client.exchange(RawRequest.get(target, token: token)).body
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
                let before = ProcessorTime.seconds(of: pid)
                let result = try await Load(
                    port: server.port, connections: clients, count: count, statuses: [status]
                ) { _ in RawRequest.get(target, token: token) }.run()
                runs.add(
                    name,
                    [
                        result.percentile(0.5), result.percentile(0.99), Double(count) / result.seconds,
                        (ProcessorTime.seconds(of: pid) - before) / Double(count) * 1000,
                    ])
            }
        }
        var table = Table(
            title: "`metadata` of a folder with \(children) children, \(listing.count >> 10) KiB",
            header: ["request", "p50 ms", "p99 ms", "answers/s", "server CPU ms", "server peak MiB"])
        for name in runs.names {
            let values = runs.median(name)
            table.rows.append(
                [name] + [(0, 2), (1, 2), (2, 0), (3, 2)].map { Table.number(values[$0.0], $0.1) }
                    + [Table.number(ProcessorTime.peakMemory(of: pid), 0)])
        }
        return table
    }

    private static func downloads(
        _ settings: Settings, _ server: ServerProcess, _ token: String, _ pid: pid_t, _ folder: String
    ) async throws -> Table {
        let nginx = try await Nginx.start(in: folder)
        let photo = nginx.root + "/photo.jpg"
        try LocalFiles.writeLarge(
            head: Fixture.bytes("panoramas/city.jpg"), length: settings.mebibytes << 20, seed: 3, to: photo)
        let header = ["-H", "Authorization: Bearer \(token)"]
        let put = try await Program.run(
            "/usr/bin/curl",
            ["-sSf", "-o", "/dev/null", "-H", "Expect:", "-T", photo] + header + [
                server.url + "/1/files_put/auto/photo.jpg"
            ], timeout: .seconds(300))
        guard put.status == 0 else { throw Stopwatch.Failure(description: "\(put)") }
        let contestants: [(String, [String], pid_t)] = [
            (sendfile, [nginx.url + "/photo.jpg"], nginx.process.pid),
            (ours, header + [server.url + "/1/files/auto/photo.jpg"], pid),
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
            let values = runs.median(name)
            table.rows.append(
                [name, Table.number(values[0], 0), Table.number(values[0] / runs.median(sendfile)[0], 2)]
                    + [(1, 2), (2, 2), (3, 0)].map { Table.number(values[$0.0], $0.1) })
        }
        return table
    }

    private static let sendfile = "nginx, sendfile"
    private static let ours = "byteclub"
}

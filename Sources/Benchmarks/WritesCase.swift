import CLinux
import Glibc
import TestSupport

/// Small notes through `files_put`, each durable before its answer: one client, 64 clients, and nginx under the same
/// load.
enum WritesCase {
    /// How many clients write at once.
    private static let clients = 64

    static func run(_ settings: Settings) async throws -> [Table] {
        var runs = Series()
        for round in 0..<settings.rounds {
            let folder = settings.folder("writes")
            defer { settings.discard(folder) }
            let ours = try await LoadedServer.start(in: folder)
            for (name, connections, count) in [(one, 1, settings.notes / 4), (many, clients, settings.notes * 3)] {
                let load = ours.load(count, clients: connections) { number in
                    ours.put("\(connections)/f\(number / 100)/note-\(number).md", note(number, round))
                }
                runs.add(name, try await load.figures(of: ours.pid))
            }
            await ours.server.stop()
            if let nginx = try await Nginx.startSynced(in: folder) {
                runs.add(nginxSynced, try await measure(nginx, settings.notes / 2, round))
                settings.discard(folder + "/nginx")
            }
            runs.add(nginxLoose, try await measure(Nginx.start(in: folder), settings.notes * 3, round))
            for notes in [1, clients] {
                runs.add(limit(notes), try append(settings.notes / 4, at: folder + "/limit", notes: notes))
            }
        }
        return [table(runs)]
    }

    private static let one = "byteclub, 1 client"
    private static let many = "byteclub, 64 clients"
    private static let nginxSynced = "nginx, 64 clients, synced by the file system (chattr +SD)"
    private static let nginxLoose = "nginx, 64 clients, nothing synced"
    private static func limit(_ notes: Int) -> String { "limit: append \(notes) and fdatasync" }

    private static func note(_ number: Int, _ round: Int) -> [UInt8] {
        let text = "# Note \(number) of round \(round)\n"
        return Array((text + String(repeating: "The ridge was clear and the light was good. ", count: 34)).utf8)
    }

    private static func measure(_ nginx: Nginx, _ count: Int, _ round: Int) async throws -> [Double] {
        defer { nginx.stop() }
        for number in 0...(count / 100) { LocalFiles.makeFolder("\(nginx.root)/f\(number)") }
        let load = Load(port: nginx.port, connections: clients, count: count, statuses: [201]) { number in
            RawRequest.send("PUT", "/f\(number / 100)/note-\(number).md", token: nil, body: Self.note(number, round))
        }
        let figures = try await load.figures(of: nginx.process.pid)
        await nginx.end()
        return figures
    }

    /// One thread that appends notes to a file and syncs after each.
    private static func append(_ count: Int, at path: String, notes: Int) throws -> [Double] {
        let descriptor = unsafe byteclub_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Stopwatch.Failure(description: "cannot write \(path)") }
        defer { close(descriptor) }
        let bytes = (0..<notes).flatMap { note($0, 0) }
        var times: [Double] = []
        let start = ContinuousClock.now
        for _ in 0..<count {
            let begin = ContinuousClock.now
            guard unsafe write(descriptor, bytes, bytes.count) == bytes.count, fdatasync(descriptor) == 0 else {
                throw Stopwatch.Failure(description: "cannot write \(path)")
            }
            times.append(Stopwatch.seconds(since: begin) * 1000)
        }
        let result = Load.Result(seconds: Stopwatch.seconds(since: start), times: times)
        return [Double(count * notes) / result.seconds, result.percentile(0.5), result.percentile(0.99), .nan, .nan]
    }

    private static func table(_ runs: Series) -> Table {
        var table = Table(
            title: "Notes of 1.5 KiB put at once, each durable before its answer",
            header: [
                "contestant", "notes/s", "x 1 client", "x nginx synced", "x nginx loose", "p50 ms", "p99 ms",
                "server CPU ms/note", "load generator % of a core",
            ])
        let rate = { (name: String) in runs.median(name).first ?? .nan }
        for name in runs.names {
            table.rows.append(
                [name, Table.number(rate(name), 0)]
                    + [one, nginxSynced, nginxLoose].map { Table.number(rate(name) / rate($0), 2) }
                    + runs.cells(name, [(1, 2), (2, 2), (3, 3), (4, 0)]))
        }
        return table
    }
}

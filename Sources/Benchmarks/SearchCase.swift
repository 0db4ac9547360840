import Glibc
import TestSupport

/// Searches in the texts of notes: how long they take, also right after a crash, and how large the index is beside the
/// texts.
enum SearchCase {
    private static let repeats = 400
    private static let connections = 64

    static func run(_ settings: Settings) async throws -> [Table] {
        let corpus =
            try settings.corpus.map { try SearchCorpus.files(in: $0, atMost: settings.many) }
            ?? .generated(settings.many)
        let folder = settings.folder("search")
        defer { settings.discard(folder) }
        let ours = try await LoadedServer.start(in: folder)
        let server = ours.server
        let fill = try await ours.load(corpus.count, clients: connections) { number in
            ours.put("f\(number / 1000)/note-\(number).md", corpus.text(number))
        }.run()
        let indexing = try await waitForIndex(server)
        let before = try await times(corpus, ours)
        await server.kill9()
        try await server.start()
        let after = try await times(corpus, ours)
        var searches = Table(
            title: "Searches in the texts of \(corpus.count) \(corpus.name)\(settings.label)",
            header: ["query", "p50 ms", "p99 ms", "after kill -9: p50 ms", "p99 ms", "goal p99 ms"])
        for (query, (before, after)) in zip(corpus.queries, zip(before, after)) {
            let numbers = [before, after].flatMap { [$0.percentile(0.5), $0.percentile(0.99)] }
            searches.rows.append([query.name] + numbers.map { Table.number($0, 2) } + ["50"])
        }
        let text = (0..<corpus.count).reduce(0) { $0 + corpus.text($1).count }
        let index = try await sizeOfIndex(server)
        await server.stop()
        let size = Table(
            title: "The index of the texts of \(corpus.count) \(corpus.name)",
            header: ["text MiB", "index MiB", "index / text", "goal", "filled at notes/s", "indexed s later"],
            rows: [
                [
                    Table.number(Double(text) / 1_048_576, 1), Table.number(index / 1_048_576, 1),
                    Table.number(index / Double(text), 2), "1.50",
                    Table.number(Double(fill.times.count) / fill.seconds, 0), Table.number(indexing, 1),
                ]
            ])
        return [searches, size]
    }

    /// How long the searches take, query by query.
    private static func times(_ corpus: SearchCorpus, _ ours: LoadedServer) async throws -> [Load.Result] {
        var results: [Load.Result] = []
        for (_, words) in corpus.queries {
            let load = ours.load(repeats) { number in
                ours.get("search/auto?content=true&query=\(percentEncoded(words(number)))")
            }
            results.append(try await load.run())
        }
        return results
    }

    private static func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
            return isPlain ? String(Unicode.Scalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// Seconds until all that was written is in the index.
    private static func waitForIndex(_ server: ServerProcess) async throws -> Double {
        let start = ContinuousClock.now
        while try await ask(
            server, "SELECT (SELECT value FROM meta WHERE name = 'indexed') < (SELECT max(revision) FROM version)") == 1
        {
            try await ContinuousClock().sleep(for: .seconds(1))
        }
        return Stopwatch.seconds(since: start)
    }

    /// The bytes of the pages that the index has.
    private static func sizeOfIndex(_ server: ServerProcess) async throws -> Double {
        try await ask(server, "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'search%'")
    }

    /// A number from the server's database.
    private static func ask(_ server: ServerProcess, _ query: String) async throws -> Double {
        guard let python = Program.system("python3") else {
            throw Stopwatch.Failure(description: "python3 is missing, which asks the database")
        }
        let script = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])"
        let answer = try await Program.run(
            python, ["-c", script, server.data + "/byteclub.sqlite", query], timeout: .seconds(600))
        guard answer.status == 0, let number = Double(answer.text.filter { !$0.isWhitespace }) else {
            throw Stopwatch.Failure(description: "the database does not answer: \(answer)")
        }
        return number
    }
}

import Glibc
import TestSupport

/// Searches in the texts of generated notes: how long they take, and how large the index is beside the texts.
enum SearchCase {
    private static let repeats = 400
    private static let connections = 64

    /// What is looked for, by what makes it cheap or costly.
    private static let queries: [(name: String, words: @Sendable (Int) -> String)] = [
        ("a rare word", { GeneratedNote.word(4_000 + $0 * 41 % 15_000) }),
        ("a word of nearly every note", { GeneratedNote.word($0 % 8) }),
        ("two common words", { "\(GeneratedNote.word($0 % 40)) \(GeneratedNote.word(40 + $0 % 50)) " }),
        (
            "four words",
            { number in
                (0..<4).map { GeneratedNote.word((number * 7 + $0 * 31) % 300) }.joined(separator: " ")
            }
        ),
        ("a phrase", { "%22\(GeneratedNote.word($0 % 60)) \(GeneratedNote.word(($0 * 3) % 60))%22" }),
        ("the first two letters of a word", { String(GeneratedNote.word($0 % 500).prefix(2)) }),
        ("the first four letters of a word", { String(GeneratedNote.word($0 % 500).prefix(4)) }),
        ("two Chinese characters", { GeneratedNote.characters($0 * 17, 2) }),
        ("nothing that is there", { "nowhere\($0)" }),
    ]

    static func run(_ settings: Settings) async throws -> [Table] {
        let folder = settings.folder("search")
        defer { settings.discard(folder) }
        let server = try await ServerProcess(
            data: folder + "/data", arguments: ["--log-level", "warning", "--member-rate", "0"])
        let token = try await server.addMember("ann")
        let fill = try await Load(
            port: server.port, connections: connections, count: settings.many, statuses: [200]
        ) { number in
            Load.send(
                "PUT", "/1/files_put/auto/f\(number / 1000)/note-\(number).md", token: token,
                body: GeneratedNote.text(number))
        }.run()
        let indexing = try await waitForIndex(server)
        var searches = Table(
            title: "Searches in the texts of \(settings.many) notes\(settings.label)",
            header: ["query", "p50 ms", "p99 ms", "goal p99 ms"])
        for (name, words) in queries {
            let result = try await Load(port: server.port, connections: 1, count: repeats, statuses: [200]) { number in
                let query = percentEncoded(words(number))
                return Load.get("/1/search/auto?content=true&query=\(query)", token: token)
            }.run()
            searches.rows.append([
                name, Table.number(result.percentile(0.5), 2), Table.number(result.percentile(0.99), 2), "50",
            ])
        }
        let text = (0..<settings.many).reduce(0) { $0 + GeneratedNote.text($1).count }
        let index = try await sizeOfIndex(server)
        await server.stop()
        let size = Table(
            title: "The index of the texts of \(settings.many) notes",
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

    private static func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "%")
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

    /// A number that the server's database tells.
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

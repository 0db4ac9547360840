import Glibc
import TestSupport

/// Measures ByteClub beside its peers and the machine's own limits, all in one run, and prints a table for each case.
///
/// `Benchmarks pictures SIZE[,SIZE...] DIR FILE...` makes the pictures that the case `media` measures; see ``Pictures``.
///
/// `Benchmarks catalogue` prints the address of a catalogue for the examples and serves it until it is killed; see
/// ``CatalogueServer``.
///
/// `Benchmarks session cancel|queue|tls|progress|serial|rate ...` makes the transfers that the case `session` measures;
/// see ``SessionClient``.
///
/// `Benchmarks --work DIR [--only NAME,...] [--rounds N] [--notes N] [--many N] [--mebibytes N] [--edits N] [--corpus
/// DIR] [--photos DIR] [--peers DIR] [--label TEXT]`
@main
struct Benchmarks {
    static func main() async {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "pictures" { exit(try Pictures.run(Array(arguments.dropFirst()))) }
            if arguments.first == "catalogue" {
                let server = try CatalogueServer()
                print(server.url)
                fflush(nil)
                while true { try await Task.sleep(for: .seconds(86_400)) }
            }
            if arguments.first == "session" { return try await SessionClient.run(Array(arguments.dropFirst())) }
            try await run(Settings(arguments))
        } catch {
            let line = "benchmarks: \(error)\n"
            _ = unsafe line.withCString { unsafe write(STDERR_FILENO, $0, line.utf8.count) }
            exit(1)
        }
    }

    private static func run(_ settings: Settings) async throws {
        let cases: [(name: String, run: @Sendable (Settings) async throws -> [Table])] = [
            ("start", StartCase.run), ("notes", NotesCase.run), ("upload", UploadCase.run),
            ("latency", LatencyCase.run), ("rename", RenameCase.run), ("idle", IdleCase.run),
            ("million", MillionCase.run),
            ("writes", WritesCase.run), ("reads", ReadsCase.run), ("scale", ScaleCase.run),
            ("batch", BatchCase.run), ("search", SearchCase.run), ("media", MediaCase.run),
            ("session", SessionCase.run), ("library", LibraryCase.run),
        ]
        if let missing = Peer.missing { print(missing + "\n") }
        for (name, run) in cases where settings.runs(name) {
            for table in try await run(settings) { print(table.text) }
            fflush(nil)
        }
    }
}

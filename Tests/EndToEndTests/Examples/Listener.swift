import TestSupport
import Testing

/// Somebody who listens to a podcast of five episodes with `singlecast`.
final class Listener: Sendable {
    let machine: ListenerMachine
    let podcast: Catalogue.Podcast

    init() throws {
        podcast = Catalogue.Podcast(
            77, "Ferry Talk & More", by: "Ann <Harbour>",
            episodes: [
                .init("e1", "Casting off", date: "Mon, 06 Jan 2025 06:00:00 GMT", seconds: 2),
                .init("e2", "Fog & <horns>", date: "Mon, 13 Jan 2025 06:00:00 +0100", seconds: 3),
                .init("e3", "../Above/below: the \"deck\"", date: "Mon, 20 Jan 2025 06:00:00 GMT", seconds: 3),
                .init("e4", "Fog & <horns>", date: "Mon, 27 Jan 2025 06:00:00 EST", seconds: 61),
                .init("e5", "Home\u{1B}[31m", date: "Mon, 03 Feb 2025 06:00:00 GMT", seconds: 4),
            ])
        machine = try ListenerMachine("singlecast", Catalogue(songs: [], podcasts: [podcast]))
    }

    deinit { machine.close() }

    var server: CatalogueServer { machine.server }
    var feed: String { server.url + podcast.path }
    var files: String { machine.folder }

    /// Runs `singlecast`.
    func run(_ arguments: String...) async throws -> ProgramResult { try await start(arguments).result() }

    /// Starts `singlecast`.
    func start(_ arguments: [String]) throws -> SpawnedProcess { try machine.start(arguments) }

    /// Subscribes to the podcast.
    func subscribe(location: SourceLocation = #_sourceLocation) async throws {
        let subscribed = try await run("subscribe", feed)
        try #require(subscribed.status == 0, "\(subscribed)", sourceLocation: location)
    }

    /// What `status --json` prints, by the episode's number.
    func status() async throws -> [Int: JSONValue] {
        let result = try await run("status", "--json")
        try #require(result.status == 0, "\(result)")
        let rows = try JSONValue.parse(result.output).elements
        return Dictionary(uniqueKeysWithValues: rows.map { (Int($0["number"]?.number ?? 0), $0) })
    }

    /// Whether episodes' files are there, as the server has them.
    func hasFiles(_ numbers: Int...) async throws -> Bool {
        let status = try await status()
        return numbers.allSatisfy { number in
            guard let file = status[number]?["file"]?.text else { return false }
            return Fixture.bytes(at: file) == server.file(podcast.episodes[number - 1].path)?.bytes
        }
    }

    /// The times that an episode's audio was asked for.
    func requests(_ number: Int) -> [CatalogueServer.Request] {
        server.requests(for: podcast.episodes[number - 1].path)
    }
}

import ArgumentParser
import ByteClubHTTP
import ExampleSupport
import FoundationEssentials

/// Finds podcasts with the iTunes Search API.
struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "search", abstract: "Finds podcasts.")

    @Argument(help: "What to search for.") var term: [String]
    @Option(help: "The catalogue's address; else SINGLECAST_CATALOGUE, else https://itunes.apple.com.")
    var catalogue: String?
    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        var base =
            catalogue ?? ProcessInfo.processInfo.environment["SINGLECAST_CATALOGUE"] ?? "https://itunes.apple.com"
        if base.hasSuffix("/") { base.removeLast() }
        let api = SearchAPI(address: base, session: try Session(configuration: .awaited))
        let words = SearchAPI.term(term.joined(separator: " "))
        let answer: Answer = try await api.answer("search?media=podcast&limit=25&\(words)")
        // Some podcasts are in the catalogue without a feed.
        let found = answer.results.filter { $0.feedUrl != nil }.map {
            Found(
                title: $0.collectionName ?? "", artist: $0.artistName ?? "", feed: $0.feedUrl ?? "",
                episodes: $0.trackCount)
        }
        if json { return try show(json: found) }
        for podcast in found {
            show("\(podcast.title.printable), by \(podcast.artist.printable)\n    \(podcast.feed.printable)")
        }
        if found.isEmpty { tell("nothing was found") }
    }

    private struct Answer: Decodable {
        struct Result: Decodable {
            var collectionName: String?
            var artistName: String?
            var feedUrl: String?
            var trackCount: Int?
        }

        var results: [Result]
    }

    private struct Found: Encodable {
        var title: String
        var artist: String
        var feed: String
        var episodes: Int?
    }
}

/// Subscribes to a podcast, replacing the previous one.
struct SubscribeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe", abstract: "Subscribes to a podcast's feed, in place of the one before.")

    @Argument(help: "The feed's address, as 'search' prints it.") var feedURL: String

    func run() async throws {
        let library = try Library()
        let feed = try await library.feed(at: feedURL)
        let lock = try library.lock()
        let before = try library.stored()
        var podcast = Podcast(feed: feedURL)
        if let before, before.feed == feedURL { podcast = before }
        podcast.update(from: feed)
        try library.save(podcast)
        lock.release()
        if let before, before.feed != feedURL {
            tell("no longer subscribed to \(before.title); what was downloaded of it stays")
        }
        tell("subscribed to \(podcast.title), with \(podcast.episodes.count) episodes")
    }
}

/// Lists the podcast's episodes.
struct EpisodesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "episodes", abstract: "Lists the podcast's episodes, oldest first.")

    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        let library = try Library()
        let podcast = try await library.refreshed()
        let tasks = try await library.tasks()
        let rows = podcast.episodes.map { Row(episode: $0, state: EpisodeState($0, tasks)) }
        if json { return try show(json: rows) }
        for row in rows { show(row.line) }
    }

    private struct Row: Encodable {
        var episode: Episode
        /// Nil for an episode that was not requested yet.
        var state: EpisodeState?

        func encode(to encoder: any Encoder) throws {
            try episode.encode(to: encoder)
            try state?.encode(to: encoder)
        }

        var line: String {
            let details = [
                episode.date.map { String($0.prefix(10)) }, episode.duration.map { "\(($0 + 59) / 60) min" },
                episode.length.map { size($0) }, state?.state,
            ].compactMap(\.self).joined(separator: ", ")
            return "\(episode.number)  \(episode.title)" + (details.isEmpty ? "" : " (\(details))")
        }
    }
}

/// Shows the state of all downloads, including downloads of an earlier podcast.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Shows how the downloads stand.")

    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        let library = try Library()
        let episodes = try library.stored()?.episodes ?? []
        let tasks = try await library.tasks()
        let files = Set(episodes.compactMap(\.file))
        let others = tasks.filter { !files.contains($0.key) }.sorted { $0.value.created < $1.value.created }
        let states =
            episodes.compactMap { EpisodeState($0, tasks) }
            + others.map { EpisodeState($1, $1.request.options.label, $0) }
        if json { return try show(json: states) }
        for state in states { show(state.line) }
        if states.isEmpty { tell("nothing was downloaded yet: 'singlecast download N'") }
    }
}

/// Pauses downloads.
struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Holds downloads; what came is kept.")

    @Argument(help: "The episodes' numbers.") var numbers: [Int]

    func run() async throws { try await change(numbers, .pause) }
}

/// Resumes paused or failed downloads.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Lets downloads go on that are paused or failed.")

    @Argument(help: "The episodes' numbers.") var numbers: [Int]

    func run() async throws { try await change(numbers, .resume) }
}

/// Cancels downloads.
struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Gives downloads up; what came is dropped.")

    @Argument(help: "The episodes' numbers.") var numbers: [Int]

    func run() async throws { try await change(numbers, .cancel) }
}

/// Changes downloads, all of them or none, and returns when the change is complete.
private func change(_ numbers: [Int], _ change: BackgroundChange) async throws {
    let library = try Library()
    let podcast = try library.podcast()
    let control = try await BackgroundControl(library.service)
    let tasks = try await control.episodes()
    let ids = try numbers.map { number in
        guard let task = try podcast.episode(number).file.flatMap({ tasks[$0] }), task.state != .done else {
            throw Failure(.notFound, "episode \(number) is not being downloaded")
        }
        return task.id
    }
    try await control.change(ids, change)
    await control.close()
}

import ArgumentParser
import ByteClubHTTP
import ExampleSupport
import FoundationEssentials

/// Finds podcasts with the iTunes Search API.
struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Finds podcasts.",
        discussion: "Without words, on a terminal, it searches while you type, and Return subscribes to the chosen one."
    )

    @Argument(help: "What to search for.") var term: [String] = []
    @Option(help: "The catalogue's address; else SINGLECAST_CATALOGUE, else https://itunes.apple.com.")
    var catalogue: String?
    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        let variable = ProcessInfo.processInfo.environment["SINGLECAST_CATALOGUE"] ?? ""
        var base = catalogue ?? (variable.isEmpty ? "https://itunes.apple.com" : variable)
        if base.hasSuffix("/") { base.removeLast() }
        let api = SearchAPI(address: base, session: try Session(configuration: .awaited))
        if term.isEmpty { return try await searchWhileTyping(api) }
        let found = try await Self.podcasts(term.joined(separator: " "), api)
        try Library().keep(found.map(\.feed))
        if json { return try show(json: found) }
        for (index, podcast) in found.enumerated() {
            show("\(index + 1)  \(podcast.line)\n    \(podcast.feed.inOneLine)")
        }
        if found.isEmpty { tell("nothing was found") }
    }

    private func searchWhileTyping(_ api: SearchAPI) async throws {
        guard !json, let terminal = KeyTerminal() else { throw Failure(.usage, "say what to search for") }
        let screen = SearchScreen<Found>(
            terminal, action: "subscribes", search: { try await Self.podcasts($0, api) }, line: { $0.line })
        guard let podcast = try await screen.run() else { return }
        try await Library().subscribe(to: podcast.feed)
    }

    private static func podcasts(_ words: String, _ api: SearchAPI) async throws -> [Found] {
        let answer: Answer = try await api.answer("search?media=podcast&limit=25&\(SearchAPI.term(words))")
        // Some podcasts are in the catalogue without a feed.
        return answer.results.filter { $0.feedUrl != nil }.map {
            Found(
                title: $0.collectionName ?? "", artist: $0.artistName ?? "", feed: $0.feedUrl ?? "",
                episodes: $0.trackCount)
        }
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

        /// One line for people.
        var line: String { "\(title.inOneLine), by \(artist.inOneLine)" }
    }
}

/// Subscribes to a podcast, replacing the previous one.
struct SubscribeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe", abstract: "Subscribes to a podcast's feed, in place of the one before.")

    @Argument(help: "The feed's address, or its number in the last search.") var feed: String

    func run() async throws {
        let library = try Library()
        try await library.subscribe(to: Int(feed).map { try library.found($0) } ?? feed)
    }
}

extension Library {
    /// Subscribes to a feed, and prints a line about it.
    fileprivate func subscribe(to feedURL: String) async throws {
        let feed = try await feed(at: feedURL)
        let lock = try lock()
        let before = try stored()
        var podcast = Podcast(feed: feedURL)
        if let before, before.feed == feedURL { podcast = before }
        podcast.update(from: feed)
        try save(podcast)
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

/// Plays an episode.
struct PlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Plays an episode that is downloaded.",
        discussion: "The player is the first one that is installed, or the one that SINGLECAST_PLAYER names.")

    @Argument(help: "The episode's number.") var number: Int

    func run() async throws {
        let episode = try Library().podcast().episode(number)
        guard let file = episode.file, sizeOfFile(file) != nil else {
            throw Failure(
                .notFound, "episode \(number) is not there yet: 'singlecast download \(number)' downloads it")
        }
        try Player.play(file, variable: "SINGLECAST_PLAYER")
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

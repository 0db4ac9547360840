import ArgumentParser

/// Subscribes to a podcast, in place of the one before.
struct SubscribeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe", abstract: "Subscribes to a podcast's feed, in place of the one before.")

    @Argument(help: "The feed's address, as 'search' prints it.") var feedURL: String

    func run() async throws {
        let library = try Library()
        let feed = try await library.feed(at: feedURL)
        let lock = try library.lock()
        let before = try library.stored()
        var podcast = before?.feed == feedURL ? before ?? Podcast(feed: feedURL) : Podcast(feed: feedURL)
        podcast.take(feed)
        try library.save(podcast)
        lock.release()
        if let before, before.feed != feedURL {
            tell("no longer subscribed to \(before.title); what was downloaded of it stays")
        }
        tell("subscribed to \(podcast.title), with \(podcast.episodes.count) episodes")
    }
}

import FoundationEssentials

/// The podcast that is subscribed to, as it is kept.
struct Podcast: Codable {
    var feed: String
    var title: String
    /// By number.
    var episodes: [Episode] = []

    /// A podcast whose feed was not read yet.
    init(feed: String) {
        self.feed = feed
        title = feed
    }

    /// Takes over what its feed says now.
    ///
    /// A known episode keeps its number and its file, also when its address or title is a new one. One that the feed does
    /// not have any more stays if it was downloaded. New ones get the next numbers, oldest first.
    mutating func take(_ feed: Feed) {
        title = feed.title
        var items = Dictionary(feed.items.map { ($0.guid, $0) }) { first, _ in first }
        episodes = episodes.compactMap { known in
            guard let item = items.removeValue(forKey: known.guid) else { return known.file == nil ? nil : known }
            var episode = Episode(known.number, item)
            (episode.file, episode.failure) = (known.file, known.failure)
            return episode
        }
        // Feeds have their newest episode first.
        let new = feed.items.reversed().filter { items[$0.guid] != nil }
            .sorted { ($0.date ?? .distantPast) < ($1.date ?? .distantPast) }
        for item in new { episodes.append(Episode((episodes.last?.number ?? 0) + 1, item)) }
    }

    /// Whether what was read from a file can be: numbers grow and are numbers of episodes.
    var isSound: Bool {
        zip([0] + episodes.map(\.number), episodes.map(\.number)).allSatisfy { $0 < $1 && $1 < 1_000_000_000 }
    }
}

/// An episode of the podcast.
struct Episode: Codable {
    /// Counts the podcast's episodes from 1, oldest first; it never changes.
    var number: Int
    var guid: String
    var title: String
    var date: Date?
    /// In seconds.
    var duration: Int?
    var url: String
    var type: String
    /// How many bytes the feed says it has.
    var length: Int64?
    /// Where it is downloaded to, once that was asked for.
    var file: String?
    /// Why the last download was given up.
    var failure: String?

    init(_ number: Int, _ item: Feed.Item) {
        self.number = number
        (guid, title, date, duration) = (item.guid, item.title, item.date, item.duration)
        (url, type, length) = (item.url, item.type, item.length)
    }

    /// The name of the episode's file: the title, made safe, and what tells it from another of that title.
    var fileName: String {
        // FNV-1a: the same guid has the same name at any time.
        let hash = guid.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let id = String(hash, radix: 16)
        return "\(title.fileName) [\(String(repeating: "0", count: 8 - id.utf8.count))\(id)].\(fileExtension)"
    }

    private var fileExtension: String {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        if let dot = path.lastIndex(of: "."), case let end = path[path.index(after: dot)...],
            (2...4).contains(end.count),
            end.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) })
        {
            return end.lowercased()
        }
        return ["audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/x-m4a": "m4a"][type] ?? "audio"
    }
}

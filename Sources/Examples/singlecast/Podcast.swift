import ByteClubHTTP
import ExampleSupport
import Glibc

/// The subscribed podcast as it is stored.
struct Podcast: Codable {
    var feed: String
    var title: String
    /// Ordered by number.
    var episodes: [Episode] = []

    /// Creates a podcast whose feed was not read yet.
    init(feed: String) {
        self.feed = feed
        title = feed
    }

    /// Updates the podcast from its feed.
    ///
    /// A known episode keeps its number and its file, even if its URL or title has changed. An episode that the feed no
    /// longer contains stays if it was downloaded. New ones get the next numbers, oldest first.
    mutating func update(from feed: Feed) {
        title = feed.title
        var items = Dictionary(feed.items.map { ($0.guid, $0) }) { first, _ in first }
        episodes = episodes.compactMap { known in
            guard let item = items.removeValue(forKey: known.guid) else { return known.file == nil ? nil : known }
            var episode = Episode(known.number, item)
            (episode.file, episode.failure) = (known.file, known.failure)
            return episode
        }
        // Feeds start with their newest episode.
        let new = feed.items.reversed().filter { items[$0.guid] != nil }.sorted { ($0.date ?? "") < ($1.date ?? "") }
        for item in new { episodes.append(Episode((episodes.last?.number ?? 0) + 1, item)) }
    }

    /// Whether the numbers read from a file are valid and increase.
    var isSound: Bool {
        zip([0] + episodes.map(\.number), episodes.map(\.number)).allSatisfy { $0 < $1 && $1 < 1_000_000_000 }
    }

    /// The episode with a number.
    ///
    /// - Throws: ``Failure`` if there is none.
    func episode(_ number: Int) throws -> Episode {
        guard let episode = episodes.first(where: { $0.number == number }) else {
            throw Failure(.notFound, "there is no episode \(number): see 'singlecast episodes'")
        }
        return episode
    }
}

/// An episode of the podcast.
struct Episode: Codable {
    /// The episodes are numbered from 1, oldest first; a number never changes.
    var number: Int
    var guid: String
    var title: String
    /// In the format of ISO 8601, in UTC.
    var date: String?
    /// In seconds.
    var duration: Int?
    var url: String
    var type: String
    /// The length in bytes according to the feed.
    var length: Int64?
    /// The path of the download, once it was requested.
    var file: String?
    /// The reason why the last download failed.
    var failure: String?

    init(_ number: Int, _ item: Feed.Item) {
        self.number = number
        (guid, title, date, duration) = (item.guid, item.title, item.date, item.duration)
        (url, type, length) = (item.url, item.type, item.length)
    }

    /// The name of the episode's file: the title, made safe, and a hash that distinguishes equal titles.
    var fileName: String {
        // FNV-1a: the hash of a guid never changes.
        let hash = guid.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let id = String(hash, radix: 16)
        return "\(title.fileName) [\(String(repeating: "0", count: 8 - id.utf8.count))\(id)].\(fileExtension)"
    }

    private var fileExtension: String {
        let file = url.prefix { $0 != "?" && $0 != "#" }
        if let dot = file.lastIndex(of: "."), case let end = file[file.index(after: dot)...],
            (2...4).contains(end.count), end.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
        {
            return end.lowercased()
        }
        return ["audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/x-m4a": "m4a"][type] ?? "audio"
    }
}

/// The state of an episode's download, for people and scripts.
struct EpisodeState: Encodable {
    /// Nil for an episode of an earlier podcast.
    var number: Int?
    var title: String
    /// `waiting`, `running`, `paused`, `done` or `failed`.
    var state: String
    /// The number of bytes that are safe on disk.
    var bytes: Int64
    /// The length of the file; nil while it is unknown.
    var total: Int64?
    var bytesPerSecond: Double?
    var file: String
    /// The last failure, if any.
    var error: String?

    /// The state of an episode; nil for one that is not downloaded and was not requested, or whose file was removed.
    ///
    /// A file only appears when it is complete, so it is checked first, and then the daemon's download.
    init?(_ episode: Episode, _ tasks: [String: BackgroundStatus]) {
        guard let file = episode.file else { return nil }
        if let size = sizeOfFile(file) {
            self.init(.done, episode.title, file, bytes: size, total: size)
        } else if let task = tasks[file], task.state != .done {
            self.init(task, episode.title, file)
            total = total ?? episode.length
        } else if let failure = episode.failure {
            self.init(.failed, episode.title, file, bytes: 0, total: episode.length)
            error = failure
        } else {
            return nil
        }
        number = episode.number
    }

    /// The state of one of the daemon's downloads.
    init(_ task: BackgroundStatus, _ title: String, _ file: String) {
        self.init(task.state, title, file, bytes: task.bytes, total: task.total)
        bytesPerSecond = task.state == .running ? task.bytesPerSecond : nil
        error = task.failure?.message
    }

    private init(_ state: BackgroundStatus.State, _ title: String, _ file: String, bytes: Int64, total: Int64?) {
        (self.state, self.title, self.file) = (state.rawValue, title, file)
        (self.bytes, self.total) = (bytes, total)
    }

    private enum Key: CodingKey { case number, title, state, bytes, total, bytesPerSecond, file, error }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encodeIfPresent(number, forKey: .number)
        try object.encode(title, forKey: .title)
        try object.encode(state, forKey: .state)
        try object.encode(bytes, forKey: .bytes)
        // Always present for scripts: null while it is unknown.
        try object.encode(total, forKey: .total)
        try object.encodeIfPresent(bytesPerSecond, forKey: .bytesPerSecond)
        try object.encode(file, forKey: .file)
        try object.encodeIfPresent(error, forKey: .error)
    }

    /// One line for people.
    var line: String {
        let share = total.map { " of \(size($0))" } ?? ""
        return (number.map { "\($0)  " } ?? "") + "\(title): \(state), \(size(bytes))" + (state == "done" ? "" : share)
            + (bytesPerSecond.map { ", \(size(Int64($0)))/s" } ?? "") + (error.map { " (\($0.inOneLine))" } ?? "")
    }
}

/// The length of a file; nil if it does not exist.
func sizeOfFile(_ path: String) -> Int64? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : nil
}

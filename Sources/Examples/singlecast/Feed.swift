import ByteClubHTTP
import ExampleSupport
import FoundationEssentials
import HTTPTypes

/// A podcast's feed: RSS 2.0 with the duration that Apple adds (`itunes:duration`).
struct Feed {
    /// An episode in the feed.
    struct Item {
        var title = ""
        /// The identity of the episode, even if its audio moves.
        var guid = ""
        /// The URL of the audio, its media type, and its length according to the feed.
        var url = ""
        var type = ""
        var length: Int64?
        /// In the format of ISO 8601, in UTC.
        var date: String?
        /// In seconds.
        var duration: Int?
    }

    var title = ""
    /// In the feed's order, without items that have no audio.
    var items: [Item] = []

    /// - Throws: ``Failure`` if the bytes are not a feed.
    init(_ bytes: [UInt8]) throws {
        var reader = XMLReader(bytes)
        var (path, text, item): ([String], String, Item) = ([], "", Item())
        var guids: Set<String> = []
        while let piece = try reader.next() {
            switch piece {
            case .start(let name, let attributes):
                path.append(name)
                text = ""
                guard path.first == "rss" else {
                    throw Failure(.badData, "this is no podcast feed: it begins with <\(name)> and not with <rss>")
                }
                if path == ["rss", "channel", "item"] { item = Item() }
                if path == ["rss", "channel", "item", "enclosure"] { item.read(enclosure: attributes) }
            case .text(let more): text += more
            case .end:
                if path == ["rss", "channel", "title"] { title = text.inOneLine }
                if path.starts(with: ["rss", "channel", "item"]), path.count == 4 { item.read(path[3], text) }
                if path == ["rss", "channel", "item"], !item.url.isEmpty {
                    if item.guid.isEmpty { item.guid = item.url }
                    if item.title.isEmpty { item.title = item.guid }
                    if guids.insert(item.guid).inserted { items.append(item) }
                }
                path.removeLast()
                text = ""
            }
        }
        if title.isEmpty { title = "A podcast without a title" }
    }
}

extension Feed.Item {
    /// Reads the attributes of an enclosure; the first valid one counts.
    fileprivate mutating func read(enclosure: [String: String]) {
        let address = (enclosure["url"] ?? "").inOneLine
        guard url.isEmpty, (try? HTTPRequest(url: address)) != nil else { return }
        (url, type) = (address, (enclosure["type"] ?? "").inOneLine)
        // Many feeds have 0 for an unknown length.
        length = enclosure["length"].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Reads the text of one of the item's elements.
    fileprivate mutating func read(_ element: String, _ text: String) {
        switch element {
        case "title": title = text.inOneLine
        case "guid": guid = text.inOneLine
        case "pubDate": date = Self.date(text)
        case "itunes:duration":
            // `H:MM:SS`, `MM:SS` or seconds.
            let parts = text.inOneLine.split(separator: ":").map { Int($0) ?? -1 }
            let isValid = parts.count <= 3 && parts.allSatisfy { (0..<1_000_000).contains($0) }
            duration = isValid ? parts.reduce(0) { $0 * 60 + $1 } : nil
        default: break
        }
    }

    /// Parses a feed's date, such as `Sat, 8 Feb 2025 12:30:00 +0100` (RFC 822, section 5, with a year of four digits).
    private static func date(_ text: String) -> String? {
        let words = text.split(whereSeparator: \.isWhitespace).drop { $0.hasSuffix(",") }.map(String.init)
        guard words.count >= 4, let day = Int(words[0]), let year = Int(words[2]), (1...31).contains(day),
            (1900...9999).contains(year), let month = months.firstIndex(where: { words[1].lowercased().hasPrefix($0) })
        else { return nil }
        let time = words[3].split(separator: ":").map { Int($0) ?? 99 } + [0]
        guard (3...4).contains(time.count), time.allSatisfy({ (0...60).contains($0) }) else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let components = DateComponents(
            year: year, month: month + 1, day: day, hour: time[0], minute: time[1], second: time[2])
        return calendar.date(from: components).map { ($0 - offset(words.count > 4 ? words[4] : "")).ISO8601Format() }
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// The offset of a zone from UTC in seconds; unknown zones count as UTC.
    private static func offset(_ zone: String) -> TimeInterval {
        let hours = ["EST": -5.0, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7]
        if let hours = hours[zone] { return hours * 3600 }
        guard zone.utf8.count == 5, let number = Int(zone), zone.hasPrefix("+") || zone.hasPrefix("-") else { return 0 }
        return TimeInterval((number / 100 * 60 + number % 100) * 60)
    }
}

import ByteClubHTTP
import FoundationEssentials
import HTTPTypes

/// A podcast's feed: RSS 2.0 with the duration that Apple adds (`itunes:duration`).
struct Feed {
    /// An episode, as the feed tells of it.
    struct Item {
        var title = ""
        /// What the episode is known by, wherever its audio moves.
        var guid = ""
        /// Where its audio is, what it is, and how many bytes the feed thinks it has.
        var url = ""
        var type = ""
        var length: Int64?
        var date: Date?
        /// In seconds.
        var duration: Int?
    }

    var title = ""
    /// In the feed's order; what has no audio is left out.
    var items: [Item] = []

    /// - Throws: ``Failure`` when the bytes are no feed.
    init(_ bytes: [UInt8]) throws {
        var reader = XMLReader(bytes)
        var path: [String] = []
        var text = ""
        var item = Item()
        var guids: Set<String> = []
        do {
            while let piece = try reader.next() {
                switch piece {
                case .start(let name, let attributes):
                    path.append(name)
                    text = ""
                    guard path.first == "rss" else {
                        throw Failure(.badData, "this is no podcast feed: it begins with <\(name)> and not with <rss>")
                    }
                    if path == ["rss", "channel", "item"] { item = Item() }
                    if path == ["rss", "channel", "item", "enclosure"], item.url.isEmpty { item.take(attributes) }
                case .text(let more): text += more
                case .end:
                    if path == ["rss", "channel", "title"] { title = text.printable }
                    if path.starts(with: ["rss", "channel", "item"]), path.count == 4 { item.take(text, of: path[3]) }
                    if path == ["rss", "channel", "item"], !item.url.isEmpty {
                        if item.guid.isEmpty { item.guid = item.url }
                        if item.title.isEmpty { item.title = item.guid }
                        if guids.insert(item.guid).inserted { items.append(item) }
                    }
                    path.removeLast()
                    text = ""
                }
            }
        } catch let problem as XMLReader.Problem {
            throw Failure(.badData, "this is no podcast feed: \(problem)")
        }
        if title.isEmpty { title = "A podcast without a title" }
    }
}

extension Feed.Item {
    /// Takes an enclosure's attributes.
    fileprivate mutating func take(_ enclosure: [String: String]) {
        let address = (enclosure["url"] ?? "").printable
        guard (try? HTTPRequest(url: address)) != nil else { return }
        url = address
        type = (enclosure["type"] ?? "").printable
        // Many feeds say 0 for what they do not know.
        length = enclosure["length"].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Takes what is in one of the item's elements.
    fileprivate mutating func take(_ text: String, of element: String) {
        switch element {
        case "title": title = text.printable
        case "guid": guid = text.printable
        case "pubDate": date = Date(feed: text)
        case "itunes:duration": duration = Self.seconds(text)
        default: break
        }
    }

    /// Reads `H:MM:SS`, `MM:SS` or seconds.
    private static func seconds(_ text: String) -> Int? {
        let parts = text.printable.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count <= 3, parts.allSatisfy({ $0.map { (0..<1_000_000).contains($0) } == true }) else {
            return nil
        }
        return parts.reduce(0) { $0 * 60 + ($1 ?? 0) }
    }
}

extension Date {
    /// Reads a feed's date, such as `Sat, 8 Feb 2025 12:30:00 +0100` (RFC 822, section 5, with four digits of the year).
    init?(feed text: String) {
        let words = text.split(whereSeparator: \.isWhitespace).drop { $0.hasSuffix(",") }.map(String.init)
        guard words.count >= 4, let day = Int(words[0]), let year = Int(words[2]), (1...31).contains(day),
            (1900...9999).contains(year),
            let month = Self.months.firstIndex(where: { words[1].lowercased().hasPrefix($0) })
        else { return nil }
        let time = words[3].split(separator: ":").map { Int($0) ?? 99 }
        guard (2...3).contains(time.count), time.allSatisfy({ (0...60).contains($0) }) else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let components = DateComponents(
            year: year, month: month + 1, day: day, hour: time[0], minute: time[1],
            second: time.count > 2 ? time[2] : 0)
        guard let date = calendar.date(from: components) else { return nil }
        self = date - Self.offset(words.count > 4 ? words[4] : "GMT")
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// What a zone is ahead of UTC, in seconds; a zone that is not known counts as UTC.
    private static func offset(_ zone: String) -> TimeInterval {
        let hours = ["EST": -5.0, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7]
        if let hours = hours[zone] { return hours * 3600 }
        guard zone.utf8.count == 5, let number = Int(zone), zone.hasPrefix("+") || zone.hasPrefix("-") else { return 0 }
        return TimeInterval((number / 100 * 60 + number % 100) * 60)
    }
}

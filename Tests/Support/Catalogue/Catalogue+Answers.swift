/// The documents that a catalogue's server sends.
extension Catalogue {
    /// What `/search` answers, as the iTunes Search API does: any of the words' fields in any order must have each word.
    ///
    /// - Parameters:
    ///   - parameters: `term`, and perhaps `media`, `entity` and `limit` (1 to 200, else 50).
    ///   - origin: Where the server is, without a path.
    /// - Returns: JSON.
    func search(_ parameters: [String: String], origin: String) -> String {
        let words = (parameters["term"] ?? "").lowercased().split(whereSeparator: \.isWhitespace)
        let limit = parameters["limit"].flatMap { Int($0) }.map { min(max($0, 1), 200) } ?? 50
        func fits(_ texts: String...) -> Bool {
            let text = texts.joined(separator: " ").lowercased()
            return !words.isEmpty && words.allSatisfy { text.contains($0) }
        }
        var found: [String] = []
        let entity = parameters["entity"] ?? (parameters["media"] == "podcast" ? "podcast" : "song")
        if entity == "podcast" {
            found = podcasts.filter { fits($0.name, $0.artist) }.map { entry($0, origin) }
        } else if entity == "song" || entity == "musicTrack" {
            found = songs.filter { fits($0.name, $0.artist, $0.collection) }.map { entry($0, origin) }
        }
        return results(Array(found.prefix(limit)))
    }

    /// What `/lookup` answers for one or more numbers, in their order; what there is not is left out.
    func lookup(_ parameters: [String: String], origin: String) -> String {
        let numbers = (parameters["id"] ?? "").split(separator: ",").compactMap { Int($0) }
        return results(
            numbers.compactMap { number in
                songs.first { $0.id == number }.map { entry($0, origin) }
                    ?? podcasts.first { $0.id == number }.map { entry($0, origin) }
            })
    }

    /// A podcast's feed: RSS 2.0 with Apple's namespace, newest episode first.
    func feed(_ podcast: Podcast, origin: String) -> String {
        let items = podcast.episodes.enumerated().reversed().map { index, episode in
            """
                <item>
                  <title>\(Self.escaped(episode.title))</title>
                  <itunes:title>\(Self.escaped(episode.title))</itunes:title>
                  <description><![CDATA[<p>About <b>\(episode.guid)</b> & more.</p>]]></description>
                  <guid isPermaLink="false">\(Self.escaped(episode.guid))</guid>
                  <pubDate>\(episode.date)</pubDate>
                  <enclosure url="\(Self.escaped(origin + episode.path + "?feed=\(podcast.id)&via=rss"))" \
            length="\(WaveAudio.length(seconds: episode.seconds))" type="audio/x-wav"/>
                  <itunes:duration>\(Self.duration(episode.seconds))</itunes:duration>
                  <itunes:episode>\(index + 1)</itunes:episode>
                  <itunes:explicit>false</itunes:explicit>
                </item>
            """
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- Made by hand -->
            <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
              xmlns:atom="http://www.w3.org/2005/Atom">
              <channel>
                <title>\(Self.escaped(podcast.name))</title>
                <link>\(origin)/podcasts/\(podcast.id)</link>
                <atom:link href="\(origin)\(podcast.path)" rel="self" type="application/rss+xml"/>
                <description><![CDATA[All about \(podcast.name)]]></description>
                <language>en</language>
                <image><url>\(origin)/cover.jpg</url><title>The cover</title><link>\(origin)</link></image>
                <itunes:author>\(Self.escaped(podcast.artist))</itunes:author>
                <itunes:category text="Leisure"/>
            \(items.joined(separator: "\n"))
              </channel>
            </rss>

            """
    }

    private func entry(_ song: Song, _ origin: String) -> String {
        """
        {"wrapperType":"track", "kind":"song", "artistId":\(song.id + 700_000), "collectionId":\(song.id + 800_000), \
        "trackId":\(song.id), "artistName":\(Self.quoted(song.artist)), \
        "collectionName":\(Self.quoted(song.collection)), "trackName":\(Self.quoted(song.name)), \
        "previewUrl":\(Self.quoted(origin + song.path)), "trackTimeMillis":\(Int(song.seconds * 8000)), \
        "trackPrice":1.29, "releaseDate":"2016-04-01T12:00:00Z", "isStreamable":true, "country":"USA", \
        "currency":"USD", "primaryGenreName":"Pop"}
        """
    }

    private func entry(_ podcast: Podcast, _ origin: String) -> String {
        """
        {"wrapperType":"track", "kind":"podcast", "collectionId":\(podcast.id), "trackId":\(podcast.id), \
        "artistName":\(Self.quoted(podcast.artist)), "collectionName":\(Self.quoted(podcast.name)), \
        "trackName":\(Self.quoted(podcast.name)), "feedUrl":\(Self.quoted(origin + podcast.path)), \
        "trackCount":\(podcast.episodes.count), "primaryGenreName":"Leisure", "genres":["Leisure", "Podcasts"]}
        """
    }

    /// The API begins with empty lines as well.
    private func results(_ entries: [String]) -> String {
        "\n\n\n{\n \"resultCount\":\(entries.count),\n \"results\": [\n\(entries.joined(separator: ",\n"))]\n}\n\n\n"
    }

    private static func duration(_ seconds: Double) -> String {
        let whole = Int(seconds)
        return "\(whole / 60):" + (whole % 60 < 10 ? "0" : "") + "\(whole % 60)"
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&#62;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
    }

    private static func quoted(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "\"") { quoted, scalar in
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        } + "\""
    }
}

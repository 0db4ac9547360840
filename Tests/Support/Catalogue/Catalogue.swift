/// What a ``CatalogueServer`` offers: songs with previews, and podcasts with episodes.
public struct Catalogue: Sendable {
    /// A song, as the iTunes Search API tells it.
    public struct Song: Sendable {
        /// The number that it is looked up by.
        public var id: Int
        /// Its name.
        public var name: String
        /// Who plays it.
        public var artist: String
        /// What it is from.
        public var collection: String
        /// How long the preview is.
        public var seconds: Double

        /// A song.
        public init(_ id: Int, _ name: String, by artist: String, from collection: String, seconds: Double) {
            (self.id, self.name, self.artist, self.collection, self.seconds) = (id, name, artist, collection, seconds)
        }

        /// Where the server has its preview.
        public var path: String { "/previews/\(id).wav" }
        /// Its preview.
        public var audio: [UInt8] { WaveAudio.tone(seconds: seconds, frequency: 100 + Double(id % 400)) }
    }

    /// A podcast with its feed.
    public struct Podcast: Sendable {
        /// The number that it is looked up by.
        public var id: Int
        /// Its name.
        public var name: String
        /// Whose it is.
        public var artist: String
        /// What can be heard, oldest first.
        public var episodes: [Episode]

        /// Where the server has its feed.
        public var path: String { "/podcasts/\(id)/feed.xml" }

        /// A podcast.
        public init(_ id: Int, _ name: String, by artist: String, episodes: [Episode]) {
            (self.id, self.name, self.artist, self.episodes) = (id, name, artist, episodes)
        }
    }

    /// An episode of a podcast.
    public struct Episode: Sendable {
        /// What it is known by in its feed, whatever its address is.
        public var guid: String
        /// Its name.
        public var title: String
        /// When it was published, as RSS says it (RFC 822 with four digits of the year).
        public var date: String
        /// How long it is.
        public var seconds: Double

        /// An episode.
        public init(_ guid: String, _ title: String, date: String, seconds: Double) {
            (self.guid, self.title, self.date, self.seconds) = (guid, title, date, seconds)
        }

        /// Where the server has its audio.
        public var path: String { "/episodes/\(guid).wav" }
        /// Its audio.
        public var audio: [UInt8] {
            WaveAudio.tone(seconds: seconds, frequency: 200 + Double(guid.utf8.reduce(0) { ($0 * 31 + Int($1)) % 300 }))
        }
    }

    /// The songs.
    public var songs: [Song]
    /// The podcasts.
    public var podcasts: [Podcast]

    /// A catalogue.
    public init(songs: [Song], podcasts: [Podcast]) {
        self.songs = songs
        self.podcasts = podcasts
    }

    /// Songs of 160 to 320 kB, some with names that no file can have, and two podcasts of together five episodes.
    public static let sample = Catalogue(
        songs: [
            Song(1001, "Morning Ferry", by: "The Half Tunes", from: "Harbour", seconds: 10),
            Song(1002, "Evening Ferry", by: "The Half Tunes", from: "Harbour", seconds: 8),
            Song(1003, "Night Ferry", by: "The Half Tunes", from: "Harbour", seconds: 6),
            Song(1004, "../../Überfahrt/\u{1B}[31m \"Nord\" & Süd", by: "AC/DC\n", from: "Fähren", seconds: 5),
            Song(1005, ".hidden", by: "..", from: "Dots", seconds: 5),
            Song(1006, String(repeating: "渡し船", count: 60), by: "長い", from: "名前", seconds: 5),
        ],
        podcasts: [
            Podcast(
                2001, "Ferry Talk & More", by: "Ann <Harbour>",
                episodes: [
                    Episode(
                        "ferry-1", "Casting off", date: "Mon, 06 Jan 2025 06:00:00 GMT", seconds: 6),
                    Episode(
                        "ferry-2", "Fog & <horns>", date: "Mon, 13 Jan 2025 06:00:00 +0100", seconds: 7),
                    Episode(
                        "ferry-3", "Above/below: the \"deck\"", date: "Mon, 20 Jan 2025 06:00:00 GMT", seconds: 8),
                ]),
            Podcast(
                2002, "Tides", by: "Bo",
                episodes: [
                    Episode("tides-1", "Ebb", date: "Sat, 01 Feb 2025 12:30:00 GMT", seconds: 5),
                    Episode("tides-2", "Flow", date: "Sat, 08 Feb 2025 12:30:00 GMT", seconds: 5),
                ]),
        ])
}

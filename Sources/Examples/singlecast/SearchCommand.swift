import ArgumentParser
import ByteClubHTTP
import FoundationEssentials

/// Finds podcasts with the iTunes Search API.
struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "search", abstract: "Finds podcasts.")

    @Argument(help: "What to search for.") var term: [String]
    @Option(help: "The catalogue's address; else SINGLECAST_CATALOGUE, else https://itunes.apple.com.")
    var catalogue: String?
    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        let base =
            catalogue ?? ProcessInfo.processInfo.environment["SINGLECAST_CATALOGUE"] ?? "https://itunes.apple.com"
        let address =
            "\(base.hasSuffix("/") ? String(base.dropLast()) : base)/search?media=podcast&limit=25"
            + "&term=\(Self.encoded(term.joined(separator: " ")))"
        let bytes = try await Session(configuration: .awaited).data(from: address).bytes
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(bytes)) else {
            throw Failure(.badData, "\(base) does not answer like the iTunes Search API")
        }
        // Some podcasts are in the catalogue without a feed.
        let found = answer.results.compactMap { result in
            result.feedUrl.map {
                Found(
                    title: result.collectionName ?? "", artist: result.artistName ?? "", feed: $0,
                    episodes: result.trackCount)
            }
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

    /// Percent-encodes all but the unreserved characters (RFC 3986, section 2.3).
    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}

import ArgumentParser
import FoundationEssentials

/// Lists the songs that a search finds.
struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "search", abstract: "Finds songs.")

    @Argument(help: "Words of the song's name, of who plays it, or of the album.") var term: [String]
    @Option(help: "How many songs at most, 1 to 200.") var limit = 25
    @Flag(help: "Prints JSON.") var json = false
    @OptionGroup var catalogue: CatalogueOption

    func validate() throws {
        if !(1...200).contains(limit) { throw ValidationError("--limit is 1 to 200.") }
        if words.isEmpty { throw ValidationError("Say what to search for.") }
    }

    func run() async throws {
        let tracks = try await catalogue.open().search(words, limit: limit)
        if json { return try printJSON(tracks) }
        if tracks.isEmpty { tell("halftunes: nothing found for '\(words.printable)'") }
        let width = tracks.map { "\($0.trackId)".count }.max() ?? 0
        for track in tracks {
            let collection = track.collection.map { " (\($0))" } ?? ""
            print("\(track.trackId)".padded(to: width) + "  " + track.title + collection.printable)
        }
    }

    private var words: String {
        term.joined(separator: " ").split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

/// Prints a value for scripts.
func printJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    print(String(decoding: try encoder.encode(value), as: UTF8.self))
}

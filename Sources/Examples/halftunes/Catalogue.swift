import ArgumentParser
import ByteClubHTTP
import ExampleSupport
import FoundationEssentials
import HTTPTypes

/// A catalogue with the iTunes Search API.
struct Catalogue: Sendable {
    var api: SearchAPI

    /// Searches for songs, at most 200.
    func search(_ term: String, limit: Int) async throws -> [Track] {
        try await tracks("search?media=music&entity=song&limit=\(limit)&\(SearchAPI.term(term))")
    }

    /// The songs with these numbers; unknown numbers are left out.
    func lookup(_ ids: [Int64]) async throws -> [Track] {
        try await tracks("lookup?id=" + ids.map(String.init).joined(separator: ","))
    }

    private func tracks(_ path: String) async throws -> [Track] {
        let answer: Answer = try await api.answer(path)
        return answer.results.compactMap(\.track)
    }
}

/// The part of the API's response that is used here.
private struct Answer: Decodable {
    struct Entry: Decodable {
        var kind: String?
        var trackId: Int64?
        var trackName: String?
        var artistName: String?
        var collectionName: String?
        var previewUrl: String?

        /// The entry if it is a song: films and podcasts have numbers as well.
        var track: Track? {
            guard kind == "song", let trackId else { return nil }
            return Track(
                trackId: trackId, name: trackName ?? "", artist: artistName ?? "", collection: collectionName,
                previewUrl: previewUrl)
        }
    }

    var results: [Entry]
}

/// A song of the catalogue.
struct Track: Codable, Sendable {
    var trackId: Int64
    var name: String
    var artist: String
    var collection: String?
    /// The URL of the preview, if there is one.
    var previewUrl: String?

    var title: String { "\(artist) - \(name)".printable }

    /// One line for people, without the number.
    var description: String { title + (collection.map { " (\($0))" } ?? "").printable }

    /// One line for people.
    var line: String { "\(trackId)  \(description)" }
}

/// A track's preview, and the file to download it to.
struct Preview: Sendable {
    var track: Track
    var address: String
    var request: HTTPRequest
    /// An absolute path.
    var file: String

    /// The preview of a track in a folder.
    init(of track: Track, in folder: String) throws {
        let name = Self.fileName(of: track, at: track.previewUrl ?? "")
        try self.init(
            of: track,
            at: URL(filePath: folder, directoryHint: .isDirectory).appending(path: name, directoryHint: .notDirectory)
                .standardizedFileURL.path)
    }

    /// The preview of a track, and its file.
    init(of track: Track, at file: String) throws {
        guard let address = track.previewUrl else {
            throw Failure(.notFound, "track \(track.trackId), '\(track.title)', has no preview")
        }
        (self.track, self.address, self.file) = (track, address, file)
        request = try HTTPRequest(url: address)
    }

    /// Whether it was downloaded before: a file exists only when it is complete.
    var isThere: Bool { FileManager.default.fileExists(atPath: file) }

    /// A file name that every file system accepts and that no other track has.
    private static func fileName(of track: Track, at address: String) -> String {
        // The slash is replaced as a scalar: with an accent it would be another character, but not for the system.
        let title = String(String.UnicodeScalarView(track.title.unicodeScalars.map { $0 == "/" ? "-" : $0 })).trimmed
        // A name has at most 255 bytes, and the temporary file's name is a little longer.
        let name = title.prefix(bytes: 180).trimmed
        let path = address.prefix { $0 != "?" && $0 != "#" }
        let ending = path.split(separator: "/").last?.split(separator: ".").dropFirst().last?.lowercased() ?? ""
        let isUsable = ending.utf8.count <= 4 && ending.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return "\(name.isEmpty ? "Track" : name) [\(track.trackId)].\(isUsable && !ending.isEmpty ? ending : "m4a")"
    }
}

/// The choice of a catalogue.
struct CatalogueOption: ParsableArguments {
    @Option(
        name: .customLong("catalogue"),
        help: "The catalogue's address; otherwise HALFTUNES_CATALOGUE or https://itunes.apple.com.")
    private var given: String?

    /// The catalogue with its own session.
    func open() throws -> Catalogue {
        let variable = ProcessInfo.processInfo.environment["HALFTUNES_CATALOGUE"] ?? ""
        var address = given ?? (variable.isEmpty ? "https://itunes.apple.com" : variable)
        while address.hasSuffix("/") { address.removeLast() }
        do { _ = try HTTPRequest(url: address) } catch {
            throw Failure(.usage, "'\(address.printable)' is no catalogue: \(error)")
        }
        var configuration = SessionConfiguration.ephemeral
        // A response with another status than 2xx is an error.
        configuration.policy.validation = .successful
        let session = try Session(configuration: configuration, name: "catalogue")
        return Catalogue(api: SearchAPI(address: address, session: session))
    }
}

/// Lists the songs that a search finds.
struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Finds songs.",
        discussion: "Without words, on a terminal, it searches while you type, and Return downloads the chosen preview."
    )

    @Argument(help: "Words of the song's name, of who plays it, or of the album.") var term: [String] = []
    @Option(help: "How many songs at most, 1 to 200.") var limit = 25
    @Flag(help: "Prints JSON.") var json = false
    @Option(
        name: [.customShort("o"), .customLong("output")], help: "The folder for the preview that Return downloads.")
    var folder = "."
    @OptionGroup var catalogue: CatalogueOption

    func validate() throws {
        if !(1...200).contains(limit) { throw ValidationError("--limit is 1 to 200.") }
    }

    func run() async throws {
        if words.isEmpty { return try await searchWhileTyping() }
        let tracks = try await catalogue.open().search(words, limit: limit)
        if json { return try show(json: tracks) }
        if tracks.isEmpty { tell("halftunes: nothing found for '\(words.printable)'") }
        let width = tracks.map { "\($0.trackId)".count }.max() ?? 0
        for track in tracks { print("\(track.trackId)".padded(to: width) + "  " + track.description) }
    }

    private func searchWhileTyping() async throws {
        let catalogue = try catalogue.open()
        guard !json, let terminal = KeyTerminal() else { throw Failure(.usage, "say what to search for") }
        let limit = limit
        let screen = SearchScreen<Track>(
            terminal, action: "downloads", search: { try await catalogue.search($0, limit: limit) }, line: { $0.line })
        guard let track = try await screen.run() else { return }
        try makeFolder(folder)
        try await ForegroundDownloads.prepare([Preview(of: track, in: folder)]).run()
    }

    private var words: String {
        term.joined(separator: " ").split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

/// Creates the folder for files, and its parents, if they are missing.
func makeFolder(_ path: String) throws {
    do {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
        throw Failure(.cannotWrite, "the folder '\(path.printable)' cannot be made")
    }
}

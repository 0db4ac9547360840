import ArgumentParser
import ByteClubHTTP
import FoundationEssentials
import HTTPTypes

/// A catalogue that answers like the iTunes Search API.
struct Catalogue {
    /// Its address, without a slash at the end.
    var address: String
    var session: Session

    /// The songs that a search finds, at most 200.
    func search(_ term: String, limit: Int) async throws -> [Track] {
        try await tracks("search?media=music&entity=song&limit=\(limit)&term=\(Self.encoded(term))")
    }

    /// The songs that have these numbers; those that there are not are left out.
    func lookup(_ ids: [Int64]) async throws -> [Track] {
        try await tracks("lookup?id=" + ids.map(String.init).joined(separator: ","))
    }

    private func tracks(_ path: String) async throws -> [Track] {
        let (bytes, _) = try await session.data(from: "\(address)/\(path)")
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(bytes)).results.compactMap(\.track)
        } catch {
            throw Failure(.badData, "\(address) does not answer like the iTunes Search API")
        }
    }

    /// Percent-encodes all but the unreserved characters (RFC 3986, section 2.3).
    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            let character = Character(Unicode.Scalar(byte))
            let isPlain = character.isASCII && (character.isLetter || character.isNumber || "-._~".contains(character))
            encoded += isPlain ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}

/// The API's answer, as far as it is of use here.
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

/// Which catalogue a command asks.
struct CatalogueOption: ParsableArguments {
    @Option(
        name: .customLong("catalogue"),
        help: "The catalogue's address; otherwise HALFTUNES_CATALOGUE or https://itunes.apple.com.")
    private var given: String?

    /// The catalogue, asked in a session of its own.
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
        return Catalogue(address: address, session: try Session(configuration: configuration, name: "catalogue"))
    }
}

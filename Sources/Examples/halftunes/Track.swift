import ByteClubHTTP
import FoundationEssentials
import HTTPTypes

/// A song of the catalogue.
struct Track: Codable, Sendable {
    var trackId: Int64
    var name: String
    var artist: String
    var collection: String?
    /// The address of its preview, if it has one.
    var previewUrl: String?

    /// What people are told it is.
    var title: String { "\(artist) - \(name)".printable }
}

/// A track's preview, and the file that it is to be downloaded to.
struct Preview: Sendable {
    var track: Track
    var address: String
    var request: HTTPRequest
    /// An absolute path.
    var file: String

    /// The preview of a track in a folder.
    init(of track: Track, in folder: String) throws {
        guard let address = track.previewUrl else {
            throw Failure(.notFound, "track \(track.trackId), '\(track.title)', has no preview")
        }
        self.track = track
        self.address = address
        request = try HTTPRequest(url: address)
        file =
            URL(filePath: folder, directoryHint: .isDirectory)
            .appending(path: FileName(of: track, at: address).text, directoryHint: .notDirectory).standardizedFileURL
            .path
    }

    /// Whether it was downloaded before: a file is there only when it is whole.
    var isThere: Bool { FileManager.default.fileExists(atPath: file) }
}

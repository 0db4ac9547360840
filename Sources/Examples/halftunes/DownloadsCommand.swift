import ArgumentParser
import ByteClubHTTP
import ExampleSupport
import FoundationEssentials

/// Lists the downloads, in the background and in the foreground.
struct DownloadsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "downloads", abstract: "Lists the downloads, also those that have ended.",
        discussion: """
            A download in the foreground is paused when its program was stopped or killed: 'halftunes download' goes \
            on with it.
            """)

    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        let background = try await BackgroundDownloads.all()
        let foreground = try ForegroundRecord.all().map { try ForegroundDownload($0) }
        if json { return try show(json: Listing(background: background, foreground: foreground)) }
        for download in background { print(download.line) }
        for download in foreground { print(download.line) }
    }

    private struct Listing: Encodable {
        var background: [BackgroundDownload]
        var foreground: [ForegroundDownload]

        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            for download in background { try list.encode(download) }
            for download in foreground { try list.encode(download) }
        }
    }
}

/// Plays a downloaded song.
struct PlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Plays the preview of a track that is downloaded.",
        discussion: "The player is the first one that is installed, or the one that HALFTUNES_PLAYER names.")

    @Argument(help: "The track's number, or a download's ID.") var id: String

    func run() async throws {
        let foreground = try ForegroundRecord.all().filter { "\($0.track.trackId)" == id && $0.isThere }
        if let file = foreground.last?.file { try Player.play(file, variable: "HALFTUNES_PLAYER") }
        let background = try await BackgroundDownloads.all().filter {
            $0.status.state == .done && ("\($0.trackID)" == id || $0.status.id.description == id.lowercased())
        }
        guard let file = background.last?.file, FileManager.default.fileExists(atPath: file) else {
            throw Failure(
                .notFound, "'\(id.printable)' is not there yet: 'halftunes download' with its number downloads it")
        }
        try Player.play(file, variable: "HALFTUNES_PLAYER")
    }
}

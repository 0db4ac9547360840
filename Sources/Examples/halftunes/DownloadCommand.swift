import ArgumentParser
import ByteClubHTTP
import ExampleSupport
import FoundationEssentials

/// Downloads the previews of tracks, in the foreground or in the background.
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download", abstract: "Downloads the previews of tracks, several at once.",
        discussion: """
            Prints the path of each file that is there. What was stopped or killed goes on when the same command is \
            given again, or without numbers. With --background it prints the downloads' IDs instead, and the program \
            does not wait for them.
            """)

    @Argument(help: "The tracks' numbers, as 'halftunes search' tells them; else all that were stopped.")
    var trackID: [Int64] = []
    @Option(name: [.customShort("o"), .customLong("output")], help: "The folder for the files.") var folder = "."
    @Flag(help: "Downloads although this program ends; see 'halftunes downloads'.") var background = false
    @OptionGroup var catalogue: CatalogueOption

    func validate() throws {
        if let bad = trackID.first(where: { $0 <= 0 }) { throw ValidationError("\(bad) is no track's number.") }
    }

    func run() async throws {
        if trackID.isEmpty { return try await goOn() }
        let previews = try await previews()
        try makeFolder(folder)
        if background { return try await BackgroundDownloads.open().start(previews) }
        try await ForegroundDownloads.prepare(previews).run()
    }

    /// Continues the downloads in the foreground whose programs were stopped.
    private func goOn() async throws {
        let stopped = try ForegroundRecord.all().filter { !$0.isThere }
        guard !stopped.isEmpty, !background else {
            throw Failure(.usage, "name a track to download: 'halftunes search' finds some")
        }
        try await ForegroundDownloads.prepare(stopped.map { try Preview(of: $0.track, at: $0.file) }).run()
    }

    /// The previews to download; nothing is downloaded unless all tracks exist and have a preview.
    private func previews() async throws -> [Preview] {
        var ids: [Int64] = []
        for id in trackID where !ids.contains(id) { ids.append(id) }
        let tracks = try await catalogue.open().lookup(ids)
        let unknown = ids.filter { id in !tracks.contains { $0.trackId == id } }
        guard unknown.isEmpty else {
            let list = unknown.map(String.init).joined(separator: ", ")
            throw Failure(.notFound, "the catalogue has no track \(list); nothing was downloaded")
        }
        return try ids.compactMap { id in
            try tracks.first { $0.trackId == id }.map { try Preview(of: $0, in: folder) }
        }
    }
}

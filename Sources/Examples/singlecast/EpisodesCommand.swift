import ArgumentParser
import ByteClubHTTP
import FoundationEssentials

/// Lists the podcast's episodes.
struct EpisodesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "episodes", abstract: "Lists the podcast's episodes, oldest first.")

    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        let library = try Library()
        let podcast = try await library.refreshed()
        let tasks = try await library.tasks()
        let rows = podcast.episodes.map { Row($0, EpisodeState($0, tasks)) }
        if json { return try show(json: rows) }
        for row in rows { show(row.line) }
    }

    private struct Row: Encodable {
        var number: Int
        var title: String
        var guid: String
        var url: String
        var date: Date?
        /// In seconds.
        var duration: Int?
        /// As the feed says.
        var length: Int64?
        /// Nil for an episode that nobody asked for yet.
        var state: String?
        var bytes: Int64?
        var total: Int64?
        var file: String?

        init(_ episode: Episode, _ state: EpisodeState?) {
            (number, title, guid, url) = (episode.number, episode.title, episode.guid, episode.url)
            (date, duration, length) = (episode.date, episode.duration, episode.length)
            (self.state, bytes, total, file) = (state?.state, state?.bytes, state?.total, state?.file)
        }

        var line: String {
            let day = date.map { String($0.ISO8601Format().prefix(10)) }
            let minutes = duration.map { "\(($0 + 59) / 60) min" }
            let details = [day, minutes, length.map { size(Double($0)) }, state].compactMap(\.self).joined(
                separator: ", ")
            return "\(number)  \(title)" + (details.isEmpty ? "" : " (\(details))")
        }
    }
}

extension Library {
    /// How the downloads stand, by file; a daemon is asked, and started, only when there is one to ask about.
    func tasks() async throws -> [String: BackgroundStatus] {
        guard let control = try await BackgroundControl.looking(at: service) else { return [:] }
        let tasks = try await Downloads.byFile(control)
        await control.close()
        return tasks
    }
}

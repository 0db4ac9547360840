import ArgumentParser
import ByteClubHTTP

/// Shows how the downloads stand, whoever asked for them and whatever happened since.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Shows how the downloads stand.")

    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        let library = try Library()
        let episodes = try library.stored()?.episodes ?? []
        let tasks = try await library.tasks()
        let files = Set(episodes.compactMap(\.file))
        let others = tasks.filter { !files.contains($0.key) }.sorted { $0.value.created < $1.value.created }
        let states =
            episodes.compactMap { EpisodeState($0, tasks) }
            + others.map { EpisodeState($1, $1.request.options.label, $0) }
        if json { return try show(json: states) }
        for state in states { show(state.line) }
        if states.isEmpty { tell("nothing was downloaded yet: 'singlecast download N'") }
    }
}

import ArgumentParser
import ByteClubHTTP
import ExampleSupport

/// A podcast client for one podcast, whose downloads continue when the program ends.
@main struct Singlecast: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "singlecast",
        abstract: "Subscribes to a podcast and downloads its episodes in the background.",
        discussion: """
            singlecast search ferry
            singlecast subscribe 1
            singlecast download 3 7 -o ~/Podcasts
            singlecast download --all --background
            singlecast status
            singlecast play 3

            Exit codes: 0 done, 64 usage, 65 a feed or a file that makes no sense, 66 no such episode, 69 no network \
            or player, 73 and 74 a file cannot be written or read, 75 not all done and safe to try again, \
            130 Ctrl-C, 143 SIGTERM.
            """,
        subcommands: [
            SearchCommand.self, SubscribeCommand.self, EpisodesCommand.self, DownloadCommand.self, StatusCommand.self,
            PlayCommand.self, PauseCommand.self, ResumeCommand.self, CancelCommand.self, DaemonCommand.self,
        ])

    static func main() async { await runProgram(tell: tell) }
}

/// The daemon that performs the downloads, which starts with the first one and ends ten minutes after the last.
struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "daemon", shouldDisplay: false)

    func run() async throws { try await BackgroundDaemon(Library().service).run() }
}

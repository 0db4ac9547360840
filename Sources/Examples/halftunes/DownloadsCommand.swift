import ArgumentParser
import ByteClubHTTP

/// Lists the downloads in the background.
struct DownloadsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "downloads", abstract: "Lists the downloads in the background, also those that have ended.")

    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        let downloads = try await BackgroundDownloads.all()
        if json { return try printJSON(downloads) }
        for download in downloads { print(download.line) }
    }
}

/// Holds downloads.
struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Holds downloads; what came is kept.")

    @OptionGroup var chosen: ChosenDownloads

    func run() async throws { try await chosen.change(.pause, of: [.waiting, .running, .paused]) }
}

/// Lets downloads go on.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Lets downloads go on that are held or have failed.")

    @OptionGroup var chosen: ChosenDownloads

    func run() async throws { try await chosen.change(.resume, of: [.waiting, .running, .paused, .failed]) }
}

/// Gives downloads up.
struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Gives downloads up; what came is dropped.")

    @OptionGroup var chosen: ChosenDownloads

    func run() async throws { try await chosen.change(.cancel, of: [.waiting, .running, .paused]) }
}

/// Does the downloads in the background; started when one is there, and ended ten minutes after the last.
struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "daemon", shouldDisplay: false)

    func run() async throws { try await BackgroundDaemon(BackgroundDownloads.service()).run() }
}

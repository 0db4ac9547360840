import ArgumentParser
import ByteClubHTTP

/// Finds songs in a catalogue and downloads their previews.
@main struct Halftunes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "halftunes",
        abstract: "Finds songs in a catalogue and downloads their previews.",
        discussion: """
            halftunes search ferry
            halftunes download 1001 1002 -o ~/Music
            halftunes download 1003 --background
            halftunes downloads

            Exit codes: 0 done, 64 usage, 65 the catalogue's answer makes no sense, 66 no such track or download, \
            69 no network, 73 a file cannot be written, 75 not all done and safe to try again, 130 Ctrl-C.
            """,
        subcommands: [
            SearchCommand.self, DownloadCommand.self, DownloadsCommand.self, PauseCommand.self, ResumeCommand.self,
            CancelCommand.self, DaemonCommand.self,
        ])

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as Failure {
            tell("halftunes: \(failure.message)")
            exit(withError: ExitCode(failure.code.rawValue))
        } catch let error as TransferError {
            tell("halftunes: \(error)")
            exit(withError: ExitCode(Failure.Code(error).rawValue))
        } catch {
            exit(withError: error)
        }
    }
}

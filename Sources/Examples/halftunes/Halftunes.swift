import ArgumentParser
import ByteClubHTTP
import ExampleSupport
import HTTPTypes

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
            halftunes play 1001

            Exit codes: 0 done, 64 usage, 65 the catalogue's answer makes no sense, 66 no such track or download, \
            69 no network or player, 73 a file cannot be written, 75 not all done and safe to try again, \
            130 Ctrl-C, 143 SIGTERM.
            """,
        subcommands: [
            SearchCommand.self, DownloadCommand.self, DownloadsCommand.self, PlayCommand.self, PauseCommand.self,
            ResumeCommand.self, CancelCommand.self, DaemonCommand.self,
        ])

    static func main() async { await runProgram(tell: tell, code: code) }

    /// The exit code for a failed transfer.
    static func code(of error: TransferError) -> Failure.Code {
        switch error.code {
        case .unacceptableResponse where error.rejected?.response.status.code == 404: .notFound
        case .unknownTask: .notFound
        default: Failure.Code(error)
        }
    }
}

import ArgumentParser
import ByteClubHTTP
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

/// An error that ends the program, with a message of one line and an exit code of sysexits(3).
struct Failure: Error {
    enum Code: Int32 {
        case usage = 64
        case badData = 65
        case notFound = 66
        case unavailable = 69
        case software = 70
        case cannotWrite = 73
        case partlyDone = 75
        case interrupted = 130
        case terminated = 143

        /// The exit code for a failed transfer.
        init(_ error: TransferError) {
            switch error.code {
            case .unacceptableResponse where error.rejected?.response.status.code == 404: self = .notFound
            case .badRequest: self = .usage
            case .protocolViolation, .bodyTooLarge: self = .badData
            case .unknownTask: self = .notFound
            case .cannotWriteFile: self = .cannotWrite
            case .badConfiguration, .libraryMissing, .other: self = .software
            default: self = .unavailable
            }
        }
    }

    var code: Code
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

import ArgumentParser
import ByteClubHTTP

/// A podcast client for one podcast, whose downloads continue when the program ends.
@main struct Singlecast: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "singlecast",
        abstract: "Subscribes to a podcast and downloads its episodes in the background.",
        discussion: """
            singlecast search ferry
            singlecast subscribe https://example.org/feed.xml
            singlecast download 3 7 -o ~/Podcasts
            singlecast download --all --background
            singlecast status

            Exit codes: 0 done, 64 usage, 65 a feed or a file that makes no sense, 66 no such episode, 69 no network, \
            73 and 74 a file cannot be written or read, 75 not all done and safe to try again, 130 Ctrl-C.
            """,
        subcommands: [
            SearchCommand.self, SubscribeCommand.self, EpisodesCommand.self, DownloadCommand.self, StatusCommand.self,
            PauseCommand.self, ResumeCommand.self, CancelCommand.self, DaemonCommand.self,
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
            tell("singlecast: \(failure.message)")
            exit(withError: ExitCode(failure.code.rawValue))
        } catch let error as TransferError {
            tell("singlecast: \(error)")
            exit(withError: ExitCode(Failure.Code(error.code).rawValue))
        } catch {
            exit(withError: error)
        }
    }
}

/// An error that ends the program, with a message of one line and an exit code of sysexits.h.
struct Failure: Error {
    enum Code: Int32 {
        case badUsage = 64
        case badData = 65
        case noInput = 66
        case unavailable = 69
        case software = 70
        case cannotCreate = 73
        case inputOutput = 74
        case partlyDone = 75

        /// The exit code for a failed transfer.
        init(_ code: TransferError.Code) {
            switch code {
            case .badRequest: self = .badUsage
            case .cannotWriteFile: self = .cannotCreate
            case .bodyTooLarge, .protocolViolation: self = .badData
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

/// The daemon that performs the downloads, which starts with the first one and ends ten minutes after the last.
struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "daemon", shouldDisplay: false)

    func run() async throws { try await BackgroundDaemon(Library().service).run() }
}

import ArgumentParser
import ByteClubHTTP

/// A podcast client for one podcast, whose downloads go on when the program does not.
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
        } catch {
            end(with: error)
        }
    }

    /// Says in one line what went wrong, and ends with a code that scripts can tell apart.
    private static func end(with error: any Error) -> Never {
        switch error {
        case let failure as Failure:
            tell("singlecast: \(failure.message)")
            exit(withError: ExitCode(failure.code.rawValue))
        case let error as TransferError:
            tell("singlecast: \(error)")
            exit(withError: ExitCode(Failure.Code(error.code).rawValue))
        default: exit(withError: error)
        }
    }
}

extension Failure.Code {
    /// What a failed transfer means to a script.
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

/// What the downloads are done by; started when one is there, and ended ten minutes after the last.
struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "daemon", shouldDisplay: false)

    func run() async throws { try await BackgroundDaemon(Library().service).run() }
}

import ArgumentParser
import ByteClubCore
import CLinux

/// The program `byteclub-server`.
public enum ByteClubServer {
    /// Runs the process's command line and ends the process with its exit code.
    public static func main() async {
        byteclub_fill_standard_streams()
        // Pieces of bodies are allocated on one thread and freed on another: heaps that keep them grow without need.
        byteclub_limit_heaps(4)
        byteclub_limit_free_memory(16 << 20)
        await RootCommand.main()
    }
}

struct RootCommand: AsyncParsableCommand {
    /// What people called to get here: `byteclub` hands the commands of a host on under its own name.
    static let title = CommandLine.arguments.first == "byteclub" ? "byteclub" : "byteclub-server"

    static let configuration = CommandConfiguration(
        commandName: title,
        abstract: "Store a club's notes and photos, and serve them over Dropbox Core API v1.",
        version: "byteclub-server \(Release.version)",
        subcommands: [
            ServeCommand.self, MembersCommand.self, AppsCommand.self, VerifyCommand.self, ReindexCommand.self,
            BackupCommand.self,
            RestoreCommand.self,
        ],
        defaultSubcommand: ServeCommand.self)

    /// Runs the command that the arguments name; a failure is one line on standard error and an exit code.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            if exitCode(for: error) == .success { exit(withError: error) }
            let failure = CommandFailure(error) ?? CommandFailure(.usage, fullFirstLine(of: error))
            failure.exit()
        }
    }

    private static func fullFirstLine(of error: any Error) -> String {
        var line = message(for: error).split(separator: "\n").first ?? "the arguments are invalid"
        while let last = line.last, last == "." || last.isWhitespace { line.removeLast() }
        // The parser's: … is invalid for '<role>'. Please provide one of 'viewer', 'editor' or 'owner'
        if let choice = line.firstRange(of: ". Please provide one of ") {
            let values = line[choice.upperBound...].replacing(" or ", with: ", ").filter { $0 != "'" }
            line = line[..<choice.lowerBound] + "; must be one of: " + values
        }
        let hint = fullMessage(for: error).split(separator: "'").last {
            $0.hasPrefix("\(title) ") && $0.hasSuffix("--help")
        }
        return line.prefix(1).lowercased() + line.dropFirst() + "; see '\(hint ?? "\(title) --help")'"
    }
}

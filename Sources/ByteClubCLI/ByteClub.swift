import ArgumentParser
import ByteClubCore
import ByteClubHTTP
import CLinux
import Glibc

/// The program `byteclub`.
public enum ByteClub {
    /// The program's version.
    static let version = Release.version

    /// Runs the process's command line and ends the process with its exit code.
    ///
    /// To be called on the main thread before there is another one.
    ///
    /// - Parameter engine: What keeps mirrors; without it the commands about them are left to `byteclub-mirror`.
    public static func main(engine: (any MirrorEngine.Type)? = nil) -> Never {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // Asked for by every packaging and start-up check: no parser, no context.
        if arguments == ["--version"] {
            print("byteclub \(version)")
            exit(ExitStatus.success.rawValue)
        }
        byteclub_fill_standard_streams()
        // A closed pipe is an error to be handled, not a death.
        signal(SIGPIPE, SIG_IGN)
        _ = byteclub_raise_descriptor_limit()
        let environment = Context.processEnvironment()
        var warm: WarmConnections?
        if engine == nil, talksToServer(arguments) {
            // Few threads that allocate little: one heap starts faster than one for each.
            byteclub_limit_heaps(1)
            if onlyAsks(arguments) {
                warm = WarmConnections.find(Directories(environment: environment).transferService)
            }
            if warm == nil { Session.prepare() }
        }
        // A program that runs for days gives back what a first sync needed.
        let isDaemon = arguments.first == DaemonCommand.configuration.commandName
        if isDaemon { byteclub_limit_heaps(1) }
        if engine != nil || isDaemon { byteclub_limit_free_memory(16 << 20) }
        Task.detached { [warm] in
            let context = Context.live(environment, engine, over: warm)
            if context.terminal.isErrorTerminal, TaskbarProgress.isKnown(to: context.environment) {
                TaskbarProgress.clearBeforeSignals()
            }
            let status = await run(arguments, in: context)
            // All that is written is written: what libraries would free at exit, the kernel frees faster.
            _exit(status.rawValue)
        }
        // Signals find this thread. An asynchronous main would wait here too, but load a library for it first.
        while true { pause() }
    }

    /// Whether a command line is likely to need the network, as far as a look can tell before it is parsed.
    private static func talksToServer(_ arguments: [String]) -> Bool {
        guard let command = arguments.first, !command.hasPrefix("-") || command == "---completion" else { return false }
        let isLocal = [
            "serve", "members", "apps", "backup", "verify", "sync", "status", "why", "log", "conflicts", "mirrors",
            "unlink", "logout", "help", "transfers", "daemon", "completion", "connection",
        ].contains(command)
        let isHelp = arguments.contains { $0 == "-h" || $0 == "--help" || $0 == "help" }
        return (!isLocal || arguments.contains("--club")) && !isHelp && !arguments.contains("--background")
    }

    /// Whether a command line that needs the network is likely to do no more than ask.
    private static func onlyAsks(_ arguments: [String]) -> Bool {
        switch arguments.first {
        case "whoami", "---completion": true
        case "notes", "photos":
            ["list", "albums", "show", "search", "history", "info"].contains(arguments.dropFirst().first)
        default: false
        }
    }

    /// Runs one command line; the only place that decides the exit status.
    static func run(_ arguments: [String], in context: Context) async -> ExitStatus {
        var context = context.withStatusLine()
        context.arguments = arguments
        context.pager = Pager(before: context.output, context.terminal, context.environment)
        if let pager = context.pager { context.output = pager.output }
        let screen = Screen()
        if context.terminal.isOutputTerminal { context.output = screen.before(context.output) }
        let status = await run(arguments, before: context)
        screen.describe(context)
        return status
    }

    private static func run(_ arguments: [String], before context: Context) async -> ExitStatus {
        if arguments.first == "---completion" {
            if let completion = Completion(context) { await completion.answer() }
            return .success
        }
        // The parser's own way, which other programs know.
        if arguments.first == "--generate-completion-script", let name = arguments.dropFirst().first,
            let shell = CompletionCommand.Shell(rawValue: name)
        {
            return await outcome(context) { try context.output.line(CompletionScript.script(for: shell)) }
        }
        // The parser answers this with the general help and success.
        if arguments.first == "help", let unknown = UnknownCommand(in: arguments) {
            context.note(unknown.message)
            return .usage
        }
        // Asked for most often, and there is nothing to parse, which would take as long as a daemon's answer.
        if arguments == ["notes", "list"] {
            return await outcome(context) { try await NoteListing().show(in: context) }
        }
        var command: any ParsableCommand
        do {
            command = try RootCommand.parsed(arguments)
        } catch {
            return report(error, context)
        }
        if let command = command as? any ClubCommand {
            return await outcome(context) { try await command.run(in: context) }
        }
        do {
            try command.run()
            return .success
        } catch {
            return report(error, context)
        }
    }

    /// Does a command's work, and tells what went wrong.
    private static func outcome(_ context: Context, of work: () async throws -> Void) async -> ExitStatus {
        do {
            try await work()
            return .success
        } catch is Output.BrokenPipe {
            return .success
        } catch {
            let failure = Failure(error)
            if !failure.message.isEmpty { context.note(failure.message) }
            return failure.status
        }
    }

    /// Tells what the parser has to say: help that was asked for, or one line on what is wrong.
    private static func report(_ error: any Error, _ context: Context) -> ExitStatus {
        let full = RootCommand.fullMessage(for: error, columns: 80)
        if RootCommand.exitCode(for: error).isSuccess {
            let more = ConnectionTopic.reference(in: context.arguments).map { "\n" + $0 } ?? ""
            try? context.output.line(full + more)
            return .success
        }
        if let unknown = UnknownCommand(in: context.arguments) {
            context.note(unknown.message)
            return .usage
        }
        var message = RootCommand.message(for: error)
        if message.isEmpty { message = "the arguments are invalid" }
        // The parser ends with: See 'byteclub notes show --help' for more information.
        let hint = full.split(separator: "'").last { $0.hasPrefix("byteclub ") && $0.hasSuffix("--help") }
        let words = (hint ?? "byteclub --help").split(separator: " ").filter { $0 != SyncDirectoryCommand.name }
        let command = words.joined(separator: " ")
        let usage = UsageMessage(message)
        context.note(usage.text + (usage.isComplete ? "" : "; see '\(command)'"))
        return .usage
    }
}

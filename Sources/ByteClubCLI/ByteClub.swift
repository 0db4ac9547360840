import ArgumentParser
import ByteClubCore
import ByteClubHTTP
import CLinux
import Glibc

/// The program `byteclub`.
public enum ByteClub {
    /// The program's version.
    static let version = Release.version

    /// Runs the process's command line and exits with its exit code.
    ///
    /// Call it on the main thread before any other thread starts.
    ///
    /// - Parameter engine: The sync engine; nil to run commands about mirrors in `byteclub-mirror`.
    public static func main(engine: (any MirrorEngine.Type)? = nil) -> Never {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // Packaging and start-up checks only run this, so it needs neither parser nor context.
        if arguments == ["--version"] {
            print("byteclub \(version)")
            exit(ExitStatus.success.rawValue)
        }
        byteclub_fill_standard_streams()
        // A closed pipe is an error to handle, not a reason to die.
        signal(SIGPIPE, SIG_IGN)
        _ = byteclub_raise_descriptor_limit()
        let environment = Context.processEnvironment()
        var warm: WarmConnections?
        let network = engine == nil ? networkUse(of: arguments) : .none
        if network != .none {
            // A few threads that allocate little start faster with one heap than with one each.
            byteclub_limit_heaps(1)
            if network == .queries {
                warm = WarmConnections.find(Directories(environment: environment).transferService)
            }
            if warm == nil { Session.prepare() }
        }
        // A process that runs for days returns the memory of its first sync.
        let isDaemon = arguments.first == DaemonCommand.configuration.commandName
        if isDaemon { byteclub_limit_heaps(1) }
        if engine != nil || isDaemon { byteclub_limit_free_memory(16 << 20) }
        Task.detached { [warm] in
            let context = Context.live(environment, engine, over: warm)
            if context.terminal.isErrorTerminal, TaskbarProgress.isKnown(to: context.environment) {
                TaskbarProgress.clearBeforeSignals()
            }
            let status = await run(arguments, in: context)
            // All output is written, and the kernel frees memory faster than the libraries' exit handlers.
            _exit(status.rawValue)
        }
        // Signals are delivered to this thread. An asynchronous main would wait here too, but loads a library first.
        while true { pause() }
    }

    /// The most frequent command line, which bypasses the parser: that would take as long as a daemon's answer.
    private static let bareListing = ["notes", "list"]

    /// How a command line is likely to use the network, judged before it is parsed.
    private static func networkUse(of arguments: [String]) -> NetworkUse {
        if arguments.first == "---completion" { return .queries }
        if arguments == bareListing { return NotesListCommand.networkUse(of: arguments) }
        if arguments.contains(where: { ["-h", "--help", "help"].contains($0) }) { return .none }
        return (RootCommand.command(in: arguments).type as? any ClubCommand.Type)?.networkUse(of: arguments) ?? .none
    }

    /// Runs one command line; the only place that decides the exit code.
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
        // ArgumentParser's own option, which other programs use.
        if arguments.first == "--generate-completion-script", let name = arguments.dropFirst().first,
            let shell = CompletionCommand.Shell(rawValue: name)
        {
            return await outcome(context) { try context.output.line(CompletionScript.script(for: shell)) }
        }
        // The parser would answer with the general help and success.
        if arguments.first == "help", let unknown = UnknownCommand(in: arguments) {
            context.note(unknown.message)
            return .usage
        }
        if arguments == bareListing {
            return await outcome(context) { try await NoteListing().show(in: context) }
        }
        do {
            var command = try RootCommand.parsed(arguments)
            if let command = command as? any ClubCommand {
                return await outcome(context) { try await command.run(in: context) }
            }
            try command.run()
            return .success
        } catch {
            return report(error, context)
        }
    }

    /// Performs a command and reports its failure.
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

    /// Prints the parser's result: requested help, or one line about a mistake.
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
        // The parser's message ends with: See 'byteclub notes show --help' for more information.
        let hint = full.split(separator: "'").last { $0.hasPrefix("byteclub ") && $0.hasSuffix("--help") }
        let words = (hint ?? "byteclub --help").split(separator: " ").filter { $0 != SyncDirectoryCommand.name }
        let command = words.joined(separator: " ")
        let usage = UsageMessage(message)
        context.note(usage.text + (usage.isComplete ? "" : "; see '\(command)'"))
        return .usage
    }
}

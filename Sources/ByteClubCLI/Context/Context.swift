import ByteClubHTTP
import Glibc

/// All that a command touches of the world outside it; tests make their own.
struct Context: Sendable {
    /// The environment's variables.
    var environment: [String: String]
    /// Results.
    var output: Output
    /// Everything that is not a result.
    var diagnostics: Output
    /// Text and secrets typed or piped in.
    var input: Input
    /// What is known of the terminals.
    var terminal: Terminal
    /// Time since some moment.
    var uptime: @Sendable () -> Duration
    /// Seconds since 1970.
    var now: @Sendable () -> Int64 = { Int64(time(nil)) }
    /// The local calendar's reading of a number of seconds since 1970.
    var calendar: @Sendable (Int64) -> CalendarTime
    /// How to reach a server.
    var connector: Connector
    /// How to have a person edit a file.
    var editor: Editor
    /// How to show a page; nil when there is no screen for it.
    var browser: Browser?
    /// How to show a result that is longer than the screen; nil to write all of it at once.
    var pager: Pager?
    /// How Ctrl-C and SIGTERM reach a command.
    var interrupts: Interrupts
    /// How SIGUSR1 and a new size of the terminal reach a command.
    var statusSignals = StatusSignals.none
    /// The line below what is printed on a terminal, when what is printed scrolls above it.
    var ownStatusLine: StatusLine?
    /// What keeps mirrors; nil in a program that leaves them to another.
    var engine: (any MirrorEngine.Type)?
    /// Where relative paths begin.
    var workingDirectory: @Sendable () throws -> String = LocalFile.workingDirectory
    /// The command line, without the program's name.
    var arguments: [String] = []
    /// How long a server or the daemon may take to complete a word before the names come from elsewhere, or not at all.
    var completionPatience = Duration.milliseconds(250)
    /// How long a photo that another program still writes is waited for.
    var writerPatience = Duration.seconds(10)
    /// How long a question to the server may take before a terminal is told.
    var serverPatience = Duration.seconds(5)
    /// The program's own file, when it can be told.
    var executable: String?

    /// The process's own world.
    ///
    /// - Parameters:
    ///   - environment: See ``processEnvironment()``.
    ///   - engine: What keeps mirrors.
    ///   - warm: The connections of a daemon that runs already.
    /// - Returns: The world.
    static func live(
        _ environment: [String: String], _ engine: (any MirrorEngine.Type)?,
        over warm: WarmConnections? = nil
    ) -> Context {
        let start = ContinuousClock.now
        return Context(
            environment: environment,
            output: .descriptor(STDOUT_FILENO, "standard output"),
            diagnostics: .descriptor(STDERR_FILENO, "standard error"),
            input: .standard, terminal: .current,
            uptime: { ContinuousClock.now - start },
            calendar: { CalendarTime.local($0) },
            connector: .coreAPIv1(over: warm), editor: .shell, browser: Browser.find(environment),
            interrupts: .signals,
            statusSignals: .signals,
            engine: engine, executable: ownPath())
    }

    /// Where settings and state are kept.
    var directories: Directories { Directories(environment: environment) }

    /// The line below what is printed on the terminal of standard error.
    var statusLine: StatusLine {
        ownStatusLine ?? StatusLine(diagnostics, columns: terminal.columns, environment)
    }

    /// The same world, with a line on the terminal of standard error above which all that is printed scrolls.
    func withStatusLine() -> Context {
        guard terminal.isErrorTerminal else { return self }
        var context = self
        let line = statusLine
        context.ownStatusLine = line
        context.diagnostics = line.above(diagnostics)
        if terminal.isOutputTerminal { context.output = line.above(output) }
        return context
    }

    private static func ownPath() -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The process's environment.
    static func processEnvironment() -> [String: String] {
        var variables: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            if let equals = unsafe strchr(text, Int32(UInt8(ascii: "="))) {
                let name = unsafe UnsafeRawBufferPointer(start: text, count: equals - text)
                unsafe variables[String(decoding: name, as: UTF8.self)] = unsafe String(cString: equals + 1)
            }
            unsafe entry += 1
        }
        return variables
    }
}

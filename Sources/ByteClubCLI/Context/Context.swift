import ByteClubHTTP
import Glibc

/// A command's access to the world outside of it, which tests replace.
struct Context: Sendable {
    /// The environment's variables.
    var environment: [String: String]
    /// Results.
    var output: Output
    /// Everything that is not a result.
    var diagnostics: Output
    /// Text and secrets typed or piped in.
    var input: Input
    /// Properties of the terminals.
    var terminal: Terminal
    /// Time since some moment.
    var uptime: @Sendable () -> Duration
    /// Seconds since 1970.
    var now: @Sendable () -> Int64 = { Int64(time(nil)) }
    /// Converts seconds since 1970 to local time.
    var calendar: @Sendable (Int64) -> CalendarTime
    /// How to reach a server.
    var connector: Connector
    /// How to have a person edit a file.
    var editor: Editor
    /// The browser; nil without a screen.
    var browser: Browser?
    /// The pager for long results; nil to write them at once.
    var pager: Pager?
    /// Ctrl-C and SIGTERM.
    var interrupts: Interrupts
    /// Whether the network is metered.
    var network = NetworkCost.system
    /// SIGUSR1, and changes of the terminal's size.
    var statusSignals = StatusSignals.none
    /// The status line below the scrolling output of a terminal.
    var ownStatusLine: StatusLine?
    /// The sync engine; nil in a program without one.
    var engine: (any MirrorEngine.Type)?
    /// Where relative paths begin.
    var workingDirectory: @Sendable () throws -> String = LocalFile.workingDirectory
    /// The command line without the program's name.
    var arguments: [String] = []
    /// The time for a completion from the server or the daemon; then other sources are used, or none.
    var completionPatience = Duration.milliseconds(250)
    /// The time to wait for a program that still writes a photo.
    var writerPatience = Duration.seconds(10)
    /// Time without an answer from the server after which a terminal shows a message.
    var serverPatience = Duration.seconds(5)
    /// The path of the program's own file; nil when unknown.
    var executable: String?

    /// The process's own context, with a running daemon's connections if it has some.
    static func live(
        _ environment: [String: String], _ engine: (any MirrorEngine.Type)?, over warm: WarmConnections? = nil
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

    /// The status line on the terminal of standard error.
    var statusLine: StatusLine {
        ownStatusLine ?? StatusLine(diagnostics, columns: terminal.columns, environment)
    }

    /// The same context with a status line on standard error's terminal, above which all output scrolls.
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

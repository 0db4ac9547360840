import CLinux
import Glibc
import Synchronization

/// What shows a result that is longer than the screen, page by page.
///
/// As with git it is the shell command in `BYTECLUB_PAGER`, else that in `PAGER`, else `less`, which ends by itself when
/// all fits (`LESS=FRX` unless it is set); an empty one or `cat` means none.
final class Pager: Sendable {
    private enum Phase {
        /// What is written goes to the terminal.
        case idle
        /// What is written is kept and its lines are counted: it may still fit.
        case gathering
        /// What is written goes to the pager.
        case showing(Child)
        /// The pager is over, with this status, and nobody wants what is written.
        case over(Int32)
    }

    private struct State {
        var phase = Phase.idle
        /// What the terminal gets where all fits, or where the pager cannot be run.
        var kept: [UInt8] = []
        /// The line ends in what was gathered.
        var lines = 0
    }

    fileprivate struct Child {
        let process: pid_t
        /// What the process did on Ctrl-C and Ctrl-\ before.
        let signals: [(number: Int32, handler: __sighandler_t?)]
        /// Where it reads from; nil when the person has seen enough.
        var input: Int32?
        /// The bytes that were written to it.
        var taken = 0

        /// Whether it certainly runs: it has read what no pipe holds.
        var hasStarted: Bool { taken > Pager.largestPipe }
    }

    /// The most bytes that a pipe holds which nobody reads.
    private static let largestPipe = 1 << 20

    /// Where it is not installed nobody asked for it, and nothing is said.
    private static let less = "command -v less >/dev/null || exit 127; less"
    /// What a shell ends with when it cannot run a command.
    private static let notRun: ClosedRange<Int32> = 126...127

    private let command: String
    private let environment: [String]
    private let terminal: Output
    private let rows: @Sendable () -> Int?
    private let state = Mutex(State())

    /// A pager before a terminal; nil where there is none or nobody sits.
    init?(before terminal: Output, _ screen: Terminal, _ environment: [String: String]) {
        guard screen.isInputTerminal, screen.isOutputTerminal, environment["TERM"] != "dumb" else { return nil }
        command = environment["BYTECLUB_PAGER"] ?? environment["PAGER"] ?? Self.less
        if command.isEmpty || command == "cat" { return nil }
        self.environment = environment["LESS"] == nil ? ["LESS=FRX"] : []
        self.terminal = terminal
        rows = screen.rows
    }

    /// Where what the pager may show is to be written.
    var output: Output { Output { try self.write($0) } }

    /// How many bytes are kept for the terminal.
    var keptCount: Int { state.withLock { $0.kept.count } }

    /// Shows what is written meanwhile, and waits until the person has seen it.
    func show(_ write: () throws -> Void) throws {
        state.withLock { $0 = State(phase: .gathering) }
        defer { state.withLock { $0 = State() } }
        do { try write() } catch {
            try? finish()
            throw error
        }
        try finish()
    }

    private func write(_ bytes: [UInt8]) throws {
        try state.withLock { state in
            switch state.phase {
            case .idle: try terminal.write(bytes)
            case .gathering:
                state.kept += bytes
                state.lines += bytes.count { $0 == UInt8(ascii: "\n") }
                // The prompt needs a line, too.
                if state.lines < (rows() ?? .max) { return }
                if let child = try? start() {
                    try give(state.kept, to: child, &state)
                } else {
                    state.phase = .idle
                    try writeKept(&state)
                }
            case .showing(let child):
                if !child.hasStarted { state.kept += bytes }
                try give(bytes, to: child, &state)
            case .over: break
            }
        }
    }

    private func give(_ bytes: [UInt8], to child: Child, _ state: inout State) throws {
        var child = child
        child.take(bytes)
        state.phase = .showing(child)
        if child.hasStarted { state.kept = [] }
        if child.input == nil { try end(child, &state) }
    }

    /// Waits for the pager's end; the terminal gets what a pager that could not be run was to show.
    private func end(_ child: Child, _ state: inout State) throws {
        let status = child.wait()
        state.phase = .over(status)
        guard Self.notRun.contains(status), !child.hasStarted else { return state.kept = [] }
        state.phase = .idle
        try writeKept(&state)
    }

    private func writeKept(_ state: inout State) throws {
        let text = state.kept
        state.kept = []
        if !text.isEmpty { try terminal.write(text) }
    }

    private func finish() throws {
        try state.withLock { state in
            if case .gathering = state.phase { try writeKept(&state) }
            if case .showing(let child) = state.phase { try end(child, &state) }
            if case .over(ExitStatus.interrupted.rawValue) = state.phase { throw Failure.silent(.interrupted) }
        }
    }

    private func start() throws -> Child {
        var ends: [Int32] = [-1, -1]
        guard unsafe byteclub_pipe(&ends) == 0 else { throw FileError(.read, command) }
        defer { close(ends[0]) }
        // From now on they are the pager's: it has the terminal in a state that it alone can undo.
        let signals = [SIGINT, SIGQUIT].map { (number: $0, handler: signal($0, SIG_IGN)) }
        do {
            let process = try ShellCommand.start(command, input: ends[0], environment: environment)
            return Child(process: process, signals: signals, input: ends[1])
        } catch {
            close(ends[1])
            for old in signals { signal(old.number, old.handler) }
            throw error
        }
    }
}

extension Pager.Child {
    /// Writes bytes, unless it takes none any more.
    mutating func take(_ bytes: [UInt8]) {
        guard let descriptor = input else { return }
        do {
            try LocalFile.write(bytes, to: descriptor, "pager")
            taken += bytes.count
        } catch {
            close(descriptor)
            input = nil
        }
    }

    /// Waits for its end, and gives its exit code, or 128 and the number of the signal that ended it.
    func wait() -> Int32 {
        if let input { close(input) }
        defer { for old in signals { signal(old.number, old.handler) } }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return 0 }
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }
}

extension Context {
    /// The same world, in which a result is written at once however long it is.
    var withoutPager: Context {
        var context = self
        context.pager = nil
        return context
    }

    /// Writes a result, which may be longer than the screen.
    func showing(_ write: () throws -> Void) throws {
        if let pager { try pager.show(write) } else { try write() }
    }
}

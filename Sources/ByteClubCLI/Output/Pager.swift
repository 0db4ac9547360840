import ByteClubFiles
import CLinux
import Glibc
import Synchronization

/// A program that shows long results page by page.
///
/// As with git it is the shell command in `BYTECLUB_PAGER`, else `PAGER`, else `less`, which exits by itself when
/// everything fits (`LESS=FRX` unless set). An empty value or `cat` disables it.
final class Pager: Sendable {
    private enum Phase {
        /// Output is written to the terminal.
        case idle
        /// Output is buffered while its lines still fit the screen.
        case gathering
        /// Output is written to the pager.
        case showing(Child)
        /// The pager has exited with this status; output is discarded.
        case over(Int32)
    }

    private struct State {
        var phase = Phase.idle
        /// Output for the terminal, if it fits or the pager cannot be run.
        var kept: [UInt8] = []
        /// Lines in the buffer.
        var lines = 0
    }

    fileprivate struct Child {
        let process: pid_t
        /// The previous handlers of Ctrl-C and Ctrl-\.
        let signals: [(number: Int32, handler: __sighandler_t?)]
        /// The pipe to it; nil after the user has closed it.
        var input: Int32?
        /// Bytes that it has read.
        var taken = 0

        /// Whether it has certainly started: it has read more than a pipe holds.
        var hasStarted: Bool { taken > Pager.largestPipe }
    }

    /// The most bytes that a pipe holds unread.
    private static let largestPipe = 1 << 20

    /// `less` is the default, so its absence is not an error and not reported.
    private static let less = "command -v less >/dev/null || exit 127; less"
    /// Exit codes of a shell that cannot run a command.
    private static let notRun: ClosedRange<Int32> = 126...127

    private let command: String
    private let environment: [String]
    private let terminal: Output
    private let rows: @Sendable () -> Int?
    private let state = Mutex(State())

    /// A pager for a terminal; nil without a terminal, or when the environment disables it.
    init?(before terminal: Output, _ screen: Terminal, _ environment: [String: String]) {
        guard screen.isInputTerminal, screen.isOutputTerminal, environment["TERM"] != "dumb" else { return nil }
        command = environment["BYTECLUB_PAGER"] ?? environment["PAGER"] ?? Self.less
        if command.isEmpty || command == "cat" { return nil }
        self.environment = environment["LESS"] == nil ? ["LESS=FRX"] : []
        self.terminal = terminal
        rows = screen.rows
    }

    /// The output to page.
    var output: Output { Output { try self.write($0) } }

    /// Bytes buffered for the terminal.
    var keptCount: Int { state.withLock { $0.kept.count } }

    /// Pages the output of a function, and waits until the user has closed the pager.
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

    /// Waits for the pager to exit; if it could not be run, its output is written to the terminal.
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
        guard unsafe byteclub_pipe(&ends) == 0 else { throw FileFailure("read", command) }
        defer { close(ends[0]) }
        // The pager must handle them: only it can restore the terminal's mode.
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
    /// Writes bytes, unless the pager has closed its input.
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

    /// Waits for it to exit: its exit code, or 128 plus a signal's number.
    func wait() -> Int32 {
        if let input { close(input) }
        defer { for old in signals { signal(old.number, old.handler) } }
        return ShellCommand.end(of: process) ?? 0
    }
}

extension Context {
    /// The same context without a pager.
    var withoutPager: Context {
        var context = self
        context.pager = nil
        return context
    }

    /// Writes a result that may be longer than the screen.
    func showing(_ write: () throws -> Void) throws {
        if let pager { try pager.show(write) } else { try write() }
    }
}

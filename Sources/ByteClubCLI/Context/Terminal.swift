import CLinux
import Glibc

/// Properties of the terminals of the standard streams.
struct Terminal: Sendable {
    /// Whether standard input is a terminal.
    var isInputTerminal: Bool
    /// Whether standard output is a terminal.
    var isOutputTerminal: Bool
    /// Whether standard error is a terminal.
    var isErrorTerminal: Bool
    /// The current width of standard error's terminal, else of standard output's, in columns; nil when unknown.
    var columns: @Sendable () -> Int?
    /// The height of standard output's terminal, in rows; nil when unknown.
    var rows: @Sendable () -> Int? = { nil }
    /// The size of a cell of standard output's terminal in pixels; nil when unknown.
    var cell: @Sendable () -> (width: Int, height: Int)? = { nil }
    /// Sends a query to the terminal and returns its answer, as ``TerminalQuery`` does; empty without a terminal.
    var ask: @Sendable (_ question: [UInt8]) throws -> [UInt8] = { _ in [] }

    /// The terminals of the process.
    static var current: Terminal {
        Terminal(
            isInputTerminal: isatty(STDIN_FILENO) == 1, isOutputTerminal: isatty(STDOUT_FILENO) == 1,
            isErrorTerminal: isatty(STDERR_FILENO) == 1,
            columns: {
                [STDERR_FILENO, STDOUT_FILENO].map { Int(byteclub_terminal_columns($0)) }.first { $0 > 0 }
            },
            rows: {
                let rows = Int(byteclub_terminal_rows(STDOUT_FILENO))
                return rows > 0 ? rows : nil
            },
            cell: {
                let cell = (0...1).map { Int(byteclub_terminal_cell(STDOUT_FILENO, $0)) }
                return cell[0] > 0 && cell[1] > 0 ? (cell[0], cell[1]) : nil
            },
            ask: { question in
                // The system stops a background process that changes the terminal's mode.
                guard tcgetpgrp(STDIN_FILENO) == getpgrp() else { return [] }
                return try TerminalQuery.ask(question, input: STDIN_FILENO, output: STDOUT_FILENO)
            })
    }

    /// No terminal, as in a pipe or under cron.
    static var none: Terminal {
        Terminal(isInputTerminal: false, isOutputTerminal: false, isErrorTerminal: false, columns: { nil })
    }
}

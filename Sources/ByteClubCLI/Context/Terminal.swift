import CLinux
import Glibc

/// What is known of the terminals at the other end.
struct Terminal: Sendable {
    /// Whether standard input is a terminal.
    var isInputTerminal: Bool
    /// Whether standard output is a terminal.
    var isOutputTerminal: Bool
    /// Whether standard error is a terminal.
    var isErrorTerminal: Bool
    /// The width of the terminal of standard error, else of standard output, now, in columns; nil when unknown.
    var columns: @Sendable () -> Int?
    /// The height of the terminal of standard output, in rows; nil when unknown.
    var rows: @Sendable () -> Int? = { nil }
    /// The pixels of a cell of the terminal of standard output, across and down; nil when unknown.
    var cell: @Sendable () -> (width: Int, height: Int)? = { nil }
    /// Asks the terminal and gives what it answers, as ``TerminalQuery`` does; nothing where there is nobody to ask.
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
                // From the background it would be stopped.
                guard tcgetpgrp(STDIN_FILENO) == getpgrp() else { return [] }
                return try TerminalQuery.ask(question, input: STDIN_FILENO, output: STDOUT_FILENO)
            })
    }

    /// No terminal anywhere, as in a pipe or under cron.
    static var none: Terminal {
        Terminal(isInputTerminal: false, isOutputTerminal: false, isErrorTerminal: false, columns: { nil })
    }
}

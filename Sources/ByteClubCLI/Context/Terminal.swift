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
    /// The height of the terminal of standard output, now, in lines; nil when unknown.
    var rows: @Sendable () -> Int? = { nil }

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
            })
    }

    /// No terminal anywhere, as in a pipe or under cron.
    static var none: Terminal {
        Terminal(isInputTerminal: false, isOutputTerminal: false, isErrorTerminal: false, columns: { nil })
    }
}

import Glibc

/// One line from standard input that a terminal does not show.
enum HiddenLine {
    /// Whether somebody types at a terminal.
    static var isTyped: Bool { isatty(STDIN_FILENO) == 1 }

    /// Asks at a terminal, or just reads; nil when there is no line.
    static func read(_ prompt: String) -> String? {
        var saved = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &saved) == 0 else { return readLine(strippingNewline: true) }
        var silent = saved
        silent.c_lflag &= ~tcflag_t(ECHO)
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        let text = Array(prompt.utf8)
        _ = unsafe write(STDERR_FILENO, text, text.count)
        defer {
            unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved)
            _ = unsafe write(STDERR_FILENO, "\n", 1)
        }
        return readLine(strippingNewline: true)
    }
}

import ByteClubCore
import Glibc

/// One line from standard input that a terminal does not show.
enum HiddenLine {
    /// Whether somebody types at a terminal.
    static var isTyped: Bool { isatty(STDIN_FILENO) == 1 }

    /// Asks at a terminal, or just reads; nil when there is no line.
    ///
    /// The terminal is as before on every way out, also on Ctrl-C, which then ends the program as anywhere.
    static func read(_ prompt: String) -> String? {
        var saved = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &saved) == 0 else { return readLine(strippingNewline: true) }
        var silent = saved
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else { return nil }
        let text = Array(prompt.utf8)
        _ = unsafe write(STDERR_FILENO, text, text.count)
        var line = SecretLine()
        let outcome = typed(&line)
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved)
        _ = unsafe write(STDERR_FILENO, "\n", 1)
        if outcome == .interrupted { endByInterrupt() }
        return outcome == .done ? String(decoding: line.bytes, as: UTF8.self) : nil
    }

    /// Ends the program as Ctrl-C does, whatever the program that has started it does with the signal.
    private static func endByInterrupt() {
        signal(SIGINT, SIG_DFL)
        var interrupt = sigset_t()
        unsafe sigemptyset(&interrupt)
        unsafe sigaddset(&interrupt, SIGINT)
        unsafe pthread_sigmask(SIG_UNBLOCK, &interrupt, nil)
        raise(SIGINT)
    }

    /// Reads keys until they make a line.
    private static func typed(_ line: inout SecretLine) -> SecretLine.Outcome {
        while true {
            var key: UInt8 = 0
            let count = unsafe Glibc.read(STDIN_FILENO, &key, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return .ended }
            let outcome = line.take(key)
            if outcome != .more { return outcome }
        }
    }
}

import ByteClubCore
import CLinux
import Glibc

/// Messages for people beside a result, which no script reads.
enum StandardError {
    /// Writes a line at once.
    static func write(line: String) {
        let bytes = Array("\(VisibleText.line(line))\n".utf8)
        _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}

/// Results for people and scripts, written at once.
enum StandardOutput {
    /// Writes a line; names in it do nothing to a terminal, and are as they are in a pipe.
    @Sendable static func write(line: String) { write(shown(line)) }

    /// Writes a line that nothing depends on: a server runs on when it cannot be written.
    static func mention(_ line: String) { write(shown(line), isOptional: true) }

    private static func shown(_ line: String) -> [UInt8] {
        let bytes = Array((line + "\n").utf8)
        return isatty(STDOUT_FILENO) == 1 ? VisibleText.whole(bytes) : bytes
    }

    /// Writes a table, one row a line: in columns that fit a terminal, elsewhere separated by tabs.
    static func write(_ table: TextTable) {
        if table.rows.isEmpty { return }
        let variable = { (name: String) in unsafe getenv(name).map { unsafe String(cString: $0) } ?? "" }
        let isBold = variable("NO_COLOR").isEmpty && variable("TERM") != "dumb"
        write(Array((table.list(in: columns, isBold: isBold) + "\n").utf8))
    }

    /// A date as a table shows it: the local clock's on a terminal, elsewhere RFC 3339 in UTC.
    static func shown(_ date: APIDate) -> String {
        columns == nil ? date.rfc3339 : SystemTime.local(date.seconds)
    }

    /// The terminal's width; nil when there is none.
    private static var columns: Int? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        let columns = Int(byteclub_terminal_columns(STDOUT_FILENO))
        return columns > 0 ? columns : 80
    }

    /// Writes a JSON text and ends the line.
    static func write(json: [UInt8]) { write(VisibleText.json(json) + [UInt8(ascii: "\n")]) }

    private static func write(_ bytes: [UInt8], isOptional: Bool = false) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 else {
                let number = count == 0 ? EIO : errno
                if number == EINTR { continue }
                // Another process that shares the terminal or the pipe may have made it non-blocking.
                if number == EAGAIN, !isOptional {
                    var ready = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                    if unsafe poll(&ready, 1, -1) >= 0 || errno == EINTR { continue }
                }
                // A reader that has closed the pipe has all that it needs.
                if isOptional || number == EPIPE { return }
                CommandFailure(.io, "cannot write standard output: \(unsafe String(cString: strerror(number)))").exit()
            }
            rest = rest.dropFirst(count)
        }
    }
}

/// One line from standard input that a terminal does not show.
enum HiddenLine {
    /// Whether standard input is a terminal.
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

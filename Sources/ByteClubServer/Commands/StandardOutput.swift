import ByteClubCore
import CLinux
import Glibc

/// What people are told besides a result, where no script reads it.
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

    /// Writes a line that nothing depends on: a server goes on where nobody can be told that it runs.
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

    /// Ends the program where a result cannot be written; who does not read on has all that was wanted.
    private static func refused(_ number: Int32) {
        if number == EPIPE { return }
        CommandFailure(.io, "cannot write standard output: \(unsafe String(cString: strerror(number)))").exit()
    }

    private static func write(_ bytes: [UInt8], isOptional: Bool = false) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 else {
                let number = count == 0 ? EIO : errno
                if number == EINTR { continue }
                // Whoever shares the terminal or the pipe may have made it non-blocking.
                if number == EAGAIN, !isOptional {
                    var ready = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                    if unsafe poll(&ready, 1, -1) >= 0 || errno == EINTR { continue }
                }
                return isOptional ? () : refused(number)
            }
            rest = rest.dropFirst(count)
        }
    }
}

import CLinux
import Glibc

/// A query to the terminal; some terminals never answer.
enum TerminalQuery {
    /// Milliseconds to wait for an answer.
    static let patience = 150

    /// Queries kitty's protocol, then the device attributes, which every terminal reports: their answer marks the end.
    static let pictures = Array("\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[c".utf8)

    /// Writes a query, and reads up to the end of the device attributes, for ``patience`` milliseconds at most.
    ///
    /// Echo, line editing and signal keys are off meanwhile, so that Ctrl-C is read as a key and cannot end the program
    /// with the terminal in that mode. Every exit restores the mode.
    ///
    /// - Returns: The bytes read; none when `input` is not a terminal.
    /// - Throws: A ``Failure`` after Ctrl-C, and a ``FileFailure`` when the terminal cannot be written.
    static func ask(_ question: [UInt8], input: Int32, output: Int32) throws -> [UInt8] {
        var saved = termios()
        guard isatty(output) == 1, unsafe tcgetattr(input, &saved) == 0 else { return [] }
        var silent = saved
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard unsafe tcsetattr(input, TCSADRAIN, &silent) == 0 else { return [] }
        // TCSAFLUSH discards the rest of an answer, which the shell would read as keys.
        defer { unsafe tcsetattr(input, TCSAFLUSH, &saved) }
        try LocalFile.write(question, to: output, "the terminal")
        let end = ContinuousClock.now + .milliseconds(patience)
        var answer: [UInt8] = []
        while !isWhole(answer), answer.count < 4096 {
            let left = (end - ContinuousClock.now) / .milliseconds(1)
            var wait = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&wait, 1, Int32(max(0, left).rounded(.up))) > 0 else { break }
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = unsafe read(input, &bytes, bytes.count)
            guard count > 0 else { break }
            answer += bytes.prefix(count)
            if answer.contains(0x03) { throw Failure(.interrupted, "cancelled") }
        }
        return answer
    }

    /// Whether an answer holds complete device attributes, `ESC [ ? … c`.
    private static func isWhole(_ answer: [UInt8]) -> Bool {
        let head: [UInt8] = [0x1B, UInt8(ascii: "["), UInt8(ascii: "?")]
        for start in answer.indices where answer[start...].starts(with: head) {
            let end = answer[start...].dropFirst(head.count).first { !(0x30...0x3B).contains($0) }
            if end == nil || end == UInt8(ascii: "c") { return end != nil }
        }
        return false
    }
}

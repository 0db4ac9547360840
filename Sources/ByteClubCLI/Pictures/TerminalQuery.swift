import CLinux
import Glibc

/// One question to a terminal that most terminals answer, and some never do.
enum TerminalQuery {
    /// How long an answer may take.
    static let patience = 150

    /// Whether the terminal has kitty's pictures, and then what every terminal answers: its device attributes.
    static let pictures = Array("\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[c".utf8)

    /// Writes a question, and reads up to the end of the device attributes, for ``patience`` milliseconds at most.
    ///
    /// Meanwhile keys are not shown and come one by one, so that Ctrl-C is a key and cannot leave the terminal as it is
    /// then; it is as before on every way out.
    ///
    /// - Returns: What came; nothing when `input` is no terminal.
    /// - Throws: A ``Failure`` when somebody pressed Ctrl-C, and a ``FileError`` when the terminal cannot be written to.
    static func ask(_ question: [UInt8], input: Int32, output: Int32) throws -> [UInt8] {
        var saved = termios()
        guard isatty(output) == 1, unsafe tcgetattr(input, &saved) == 0 else { return [] }
        var silent = saved
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard unsafe tcsetattr(input, TCSADRAIN, &silent) == 0 else { return [] }
        // What is left of an answer is thrown away and not taken for keys.
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

    /// Whether an answer ends in device attributes, `ESC [ ? … c`.
    private static func isWhole(_ answer: [UInt8]) -> Bool { attributes(answer) != nil }

    /// The numbers of the device attributes in an answer; nil when there are none.
    static func attributes(_ answer: [UInt8]) -> [Int]? {
        let head: [UInt8] = [0x1B, UInt8(ascii: "["), UInt8(ascii: "?")]
        for start in answer.indices where answer[start...].starts(with: head) {
            let rest = answer[start...].dropFirst(head.count)
            guard let end = rest.firstIndex(where: { !(0x30...0x3B).contains($0) }) else { return nil }
            if rest[end] == UInt8(ascii: "c") {
                return rest[..<end].split(separator: UInt8(ascii: ";")).compactMap {
                    Int(String(decoding: $0, as: UTF8.self))
                }
            }
        }
        return nil
    }
}

import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc

/// Text from standard input.
struct Input: Sendable {
    /// Reads to the end, at most `limit` bytes.
    var readAll: @Sendable (_ limit: Int) throws -> [UInt8]
    /// Reads a secret line from the terminal, with echo off.
    var readSecret: @Sendable (_ prompt: String) throws -> String

    /// The process's standard input.
    static let standard = Input(
        readAll: { limit in try LocalFile.read(STDIN_FILENO, "standard input", limit: limit) },
        readSecret: { prompt in try SecretPrompt.read(prompt) })
}

/// Reads a secret from the terminal.
enum SecretPrompt {
    /// Reads a line with echo off; every exit, Ctrl-C included, restores the terminal.
    static func read(_ prompt: String) throws -> String {
        var saved = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &saved) == 0 else {
            throw Failure(.usage, "no terminal to prompt for the token; use --token-stdin")
        }
        var silent = saved
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else { throw FileFailure("read", "the terminal") }
        defer {
            unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved)
            try? LocalFile.write([0x0A], to: STDERR_FILENO, "the terminal")
        }
        try LocalFile.write(Array(prompt.utf8), to: STDERR_FILENO, "the terminal")
        var line = SecretLine()
        while true {
            var key: UInt8 = 0
            let count = unsafe Glibc.read(STDIN_FILENO, &key, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { throw Failure(.usage, "no input") }
            switch line.take(key) {
            case .more: continue
            case .done: return String(decoding: line.bytes, as: UTF8.self)
            case .interrupted: throw Failure(.interrupted, "cancelled")
            case .ended: throw Failure(.usage, "no input")
            }
        }
    }
}

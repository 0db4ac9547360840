import ByteClubCore
import CLinux
import Glibc

/// Asks for a secret at the terminal without showing it.
enum SecretPrompt {
    /// Reads a line with echo off; the terminal is as before on every way out, Ctrl-C included.
    static func read(_ prompt: String) throws -> String {
        var saved = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &saved) == 0 else {
            throw Failure(.usage, "no terminal to prompt for the token; use --token-stdin")
        }
        var silent = saved
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else { throw FileError(.read, "the terminal") }
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

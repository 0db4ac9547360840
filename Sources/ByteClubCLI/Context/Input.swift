import Glibc

/// Where text comes from when no file is named.
struct Input: Sendable {
    /// All bytes up to the end, at most `limit`.
    var readAll: @Sendable (_ limit: Int) throws -> [UInt8]
    /// One secret line from a person at the terminal, with echo off.
    var readSecret: @Sendable (_ prompt: String) throws -> String

    /// The process's standard input.
    static let standard = Input(
        readAll: { limit in try LocalFile.read(STDIN_FILENO, "standard input", limit: limit) },
        readSecret: { prompt in try SecretPrompt.read(prompt) })
}

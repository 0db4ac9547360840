import ByteClubFiles
import Glibc

/// A command that the daemon starts when the work of a session has ended and no program has the session.
///
/// It is recorded with the session's tasks, in plain text, so it must hold no secrets. The daemon starts it once all of
/// the session's tasks are done, failed or paused, the result of at least one is unconfirmed, and no program has
/// attached for a second: once for all results that wait then. If the program confirms none of them, it is started
/// again only after another task has ended. If the daemon is killed in that moment, the next daemon may start the
/// program a second time; a program that cannot be started is tried once more by the next daemon.
public struct BackgroundRelaunch: Sendable, Hashable {
    /// The environment variable with the session's identifier; see ``BackgroundSession/relaunchIdentifier``.
    public static let variable = "BYTECLUB_BACKGROUND_SESSION"

    /// The absolute path of the program, an executable file, and its arguments: at most 256 texts of 64 KiB together.
    ///
    /// The program is started without a terminal, with `/` as its working directory, empty input, output that is
    /// discarded, and the daemon's environment.
    public var command: [String]

    /// A command.
    ///
    /// - Parameter command: See ``command``.
    public init(command: [String]) { self.command = command }

    private static let mostWords = 256
    private static let mostBytes = 64 << 10

    /// Checks whether the command can be recorded, without a look at its file.
    ///
    /// - Throws: ``TransferError/Code/badConfiguration``.
    func check() throws(TransferError) {
        guard let program = command.first, program.hasPrefix("/"), program.utf8.count < 4096 else {
            throw Self.bad("must begin with an absolute path of at most 4095 bytes")
        }
        guard command.count <= Self.mostWords, command.reduce(0, { $0 + $1.utf8.count }) <= Self.mostBytes else {
            throw Self.bad("may have at most \(Self.mostWords) texts of \(Self.mostBytes) bytes together")
        }
        guard !command.contains(where: { $0.utf8.contains(0) }) else { throw Self.bad("must not contain NUL") }
    }

    /// Checks whether the program can be started now; blocks for a moment.
    ///
    /// - Throws: ``TransferError/Code/badConfiguration``.
    func checkProgram() throws(TransferError) {
        try check()
        guard let program = command.first, let status = FileStatus(program) else {
            throw Self.bad("names '\(command.first ?? "")', which cannot be used: \(systemMessage(errno))")
        }
        guard status.raw.st_mode & S_IFMT == S_IFREG, unsafe access(program, X_OK) == 0 else {
            throw Self.bad("names '\(program)', which is not an executable file")
        }
    }

    private static func bad(_ reason: String) -> TransferError {
        TransferError(.badConfiguration, "the command that starts the program again \(reason)")
    }
}

extension BackgroundSession {
    /// The identifier of the session for which the daemon has started this program; nil if it was started otherwise.
    ///
    /// A program that a person starts makes its session by itself. One that finds an identifier here makes the session
    /// with that identifier, confirms the results and ends. See ``BackgroundConfiguration/relaunch``.
    public static var relaunchIdentifier: String? {
        guard let value = unsafe getenv(BackgroundRelaunch.variable) else { return nil }
        let identifier = unsafe String(cString: value)
        do { try BackgroundRequest.check(identifier: identifier) } catch { return nil }
        return identifier
    }
}

import ByteClubCore

/// Why a command ends without success: one line for people, and what to tell the shell.
struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The code for the shell.
    var status: ExitStatus
    /// What was wrong and what to do, in one line without a full stop; empty when all has been said already.
    var message: String
    /// Whether there is no room for anything else either, on the server or on the disk.
    var isOfRoom = false

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// An end with this status after everything has been said.
    static func silent(_ status: ExitStatus) -> Failure { Failure(status, "") }

    /// Whether all else that a command is to do with the same server would fail for the same reason.
    var endsBatch: Bool { isOfRoom || [.notAuthorised, .unavailable, .configuration].contains(status) }

    /// The same for `count` things at once, of which each was not done for this reason.
    ///
    /// - Parameters:
    ///   - count: How many, from 1.
    ///   - noun: What one is called, as in `photo`.
    ///   - verb: What was not done, as in `uploaded`.
    /// - Returns: The failure with the number in its message, unless it is of one alone.
    func forAll(_ count: Int, _ noun: String, not verb: String) -> Failure {
        var failure = self
        if count > 1 { failure.message += "; \(count) \(noun)s were not \(verb)" }
        return failure
    }

    /// The message.
    var description: String { message }

    /// A text on one line, in which nothing is left that a server or a file name may tell the terminal to do.
    static func line(_ text: String) -> String { VisibleText.line(text) }
}

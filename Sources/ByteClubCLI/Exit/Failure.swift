import ByteClubCore

/// Why a command ends without success: one line for people, and what to tell the shell.
struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The code for the shell.
    var status: ExitStatus
    /// What was wrong and what to do, in one line without a full stop; empty when all has been said already.
    var message: String

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// An end with this status after everything has been said.
    static func silent(_ status: ExitStatus) -> Failure { Failure(status, "") }

    /// The message.
    var description: String { message }

    /// A text on one line, in which nothing is left that a server or a file name may tell the terminal to do.
    static func line(_ text: String) -> String { VisibleText.line(text) }
}

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

    /// A text on one line: control characters, which a server or a file name may hold, become `?`.
    static func line(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            line.append(isControl ? (scalar == "\n" || scalar == "\t" ? " " : "?") : scalar)
        }
        return String(line)
    }
}

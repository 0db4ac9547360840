import ByteClubCore

/// The reason why a command fails: one line for people, and an exit code.
struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The code for the shell.
    var status: ExitStatus
    /// The problem and its fix in one line without a full stop; empty when they were printed already.
    var message: String
    /// Whether storage is full, on the server or on the disk.
    var isOfRoom = false

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// A failure whose message was printed already.
    static func silent(_ status: ExitStatus) -> Failure { Failure(status, "") }

    /// Whether everything else on the same server would fail for the same reason.
    var endsBatch: Bool { isOfRoom || [.notAuthorised, .unavailable, .configuration].contains(status) }

    /// The message.
    var description: String { message }

    /// A text on one line, with control characters escaped, since file names and messages are not trusted.
    static func line(_ text: String) -> String { VisibleText.line(text) }
}

/// Exit codes: those of `sysexits.h`, and 128 plus a signal's number.
enum ExitStatus: Int32, Sendable, CaseIterable {
    /// Done.
    case success = 0
    /// The command line makes no sense.
    case usage = 64
    /// An invalid name, note or photo.
    case badData = 65
    /// No such note, photo, file or mirror.
    case noInput = 66
    /// The server cannot be reached.
    case unavailable = 69
    /// An entry exists already, or cannot be created.
    case cannotCreate = 73
    /// A local read or write error.
    case inputOutput = 74
    /// Not or only partly done; nothing is lost, and the same command may succeed later.
    case tryAgain = 75
    /// The server's answer makes no sense.
    case protocolViolation = 76
    /// The token is missing, invalid or for another server.
    case notAuthorised = 77
    /// An invalid setting, or a missing program.
    case configuration = 78
    /// Ctrl-C.
    case interrupted = 130
    /// SIGTERM.
    case terminated = 143
}

/// The outcome of an operation on several items.
struct BatchOutcome<Value: Sendable>: Sendable {
    /// The items that succeeded.
    var done: [Value] = []
    /// Why the others were not.
    var failures: [Failure] = []
    /// Items that were not tried, since they would have failed for the last failure's reason.
    var skipped = 0

    /// The exit code: the common reason when everything failed for one reason, 75 when something succeeded.
    var status: ExitStatus {
        guard let first = failures.first else { return .success }
        return done.isEmpty && failures.allSatisfy { $0.status == first.status } ? first.status : .tryAgain
    }

    /// Records the failure of one item that ends the batch; `rest` counts the items that were not processed because of
    /// it, that one included.
    mutating func end(_ failure: Failure, rest: Int, _ noun: String, not verb: String) {
        var failure = failure
        if rest > 1 { failure.message += "; \(rest) \(noun)s were not \(verb)" }
        failures.append(failure)
        skipped = max(0, rest - 1)
    }

    /// Prints the failures, and throws a silent one with the exit code.
    func finish(_ context: Context) throws {
        for failure in failures { context.note(failure.message) }
        if status != .success { throw Failure.silent(status) }
    }
}

/// What the program tells the shell: the codes of `sysexits.h`, and 128 plus a signal's number.
enum ExitStatus: Int32, Sendable, CaseIterable {
    /// Done.
    case success = 0
    /// The command line makes no sense.
    case usage = 64
    /// A name, a note or a photo that cannot be taken.
    case badData = 65
    /// No such note, photo, file or mirror.
    case noInput = 66
    /// The server cannot be reached.
    case unavailable = 69
    /// Something is there already, or may not be made there.
    case cannotCreate = 73
    /// Reading or writing failed on this machine.
    case inputOutput = 74
    /// Not done, or partly done; nothing is lost, and the same command may finish it.
    case tryAgain = 75
    /// The server's answer makes no sense.
    case protocolViolation = 76
    /// The token is missing, unknown or not for this server.
    case notAuthorised = 77
    /// A setting makes no sense, or something that is needed is not installed.
    case configuration = 78
    /// Ctrl-C.
    case interrupted = 130
    /// SIGTERM.
    case terminated = 143
}

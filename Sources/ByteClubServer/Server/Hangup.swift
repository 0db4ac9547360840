import Glibc

/// What SIGHUP asks a server for.
enum Hangup: Hashable, Sendable {
    /// To read its certificate again, as services are asked to.
    case reload
    /// To end, as a closed terminal asks the programs in it to.
    case end

    /// Decides by how a server was started.
    ///
    /// - Parameters:
    ///   - isAtTerminal: Whether standard input or standard error is a terminal.
    ///   - isIgnored: Whether the signal is ignored, as nohup(1) has it.
    ///   - stays: Whether the server is to outlive its terminal.
    init(isAtTerminal: Bool, isIgnored: Bool, stays: Bool) {
        self = isAtTerminal && !isIgnored && !stays ? .end : .reload
    }

    /// Decides by how this process was started; to be asked before anybody handles the signal.
    static func current(stays: Bool) -> Hangup {
        // Setting a handler tells the one before, also the constant that stands for ignoring, which is 1.
        let before = unsafe unsafeBitCast(signal(SIGHUP, SIG_IGN), to: Int.self)
        let isIgnored = unsafe before == unsafeBitCast(SIG_IGN, to: Int.self)
        if !isIgnored { signal(SIGHUP, SIG_DFL) }
        let isAtTerminal = isatty(STDIN_FILENO) == 1 || isatty(STDERR_FILENO) == 1
        return Hangup(isAtTerminal: isAtTerminal, isIgnored: isIgnored, stays: stays)
    }
}

import Glibc

extension Editor {
    /// Runs the command in a shell, in the foreground and with the terminal.
    ///
    /// While it runs Ctrl-C belongs to the editor.
    static let shell = Editor { command, path in
        let oldInterrupt = signal(SIGINT, SIG_IGN)
        let oldQuit = signal(SIGQUIT, SIG_IGN)
        defer {
            signal(SIGINT, oldInterrupt)
            signal(SIGQUIT, oldQuit)
        }
        let child = try ShellCommand.start(command, path)
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw FileError(.read, command) }
        }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
}

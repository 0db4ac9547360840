import Glibc

extension Editor {
    /// Runs the command in a shell, in the foreground and with the terminal.
    ///
    /// While it runs Ctrl-C belongs to the editor.
    static let shell = Editor { command, path in
        // The value is a shell command; the file is its last argument, whatever its name holds.
        let arguments = ["/bin/sh", "-c", command + " \"$@\"", command, path]
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        unsafe sigemptyset(&defaults)
        for number in [SIGINT, SIGQUIT, SIGPIPE, SIGTERM] { unsafe sigaddset(&defaults, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        // The threads that run tasks block most signals; an editor wants to know of Ctrl-Z and of a new window size.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        let oldInterrupt = signal(SIGINT, SIG_IGN)
        let oldQuit = signal(SIGQUIT, SIG_IGN)
        defer {
            signal(SIGINT, oldInterrupt)
            signal(SIGQUIT, oldQuit)
        }
        var vector: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
        unsafe vector.append(nil)
        defer { unsafe vector.forEach { unsafe free($0) } }
        var child = pid_t()
        let failure = unsafe posix_spawn(&child, "/bin/sh", nil, &attributes, vector, environ)
        guard failure == 0 else { throw FileError(.read, "/bin/sh", failure) }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw FileError(.read, command) }
        }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
}

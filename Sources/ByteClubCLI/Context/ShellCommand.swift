import Glibc

/// A command of the person's own choice, such as that in `EDITOR` or `BROWSER`.
enum ShellCommand {
    /// Starts it with arguments behind its own.
    ///
    /// A detached one has a process group of its own, which Ctrl-C does not reach, and neither reads nor writes at the
    /// terminal.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - arguments: What follows its own arguments, whatever it holds.
    ///   - detached: Whether it is on its own.
    ///   - input: What it reads instead of the terminal.
    ///   - environment: Variables beside those of this process.
    /// - Returns: Its process.
    /// - Throws: ``FileError`` when it cannot be started.
    static func start(
        _ command: String, _ arguments: String..., detached: Bool = false, input: Int32? = nil,
        environment: [String] = []
    ) throws -> pid_t {
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
        let group = detached ? Int32(POSIX_SPAWN_SETPGROUP) : 0
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK) | group))

        var files = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&files)
        defer { unsafe posix_spawn_file_actions_destroy(&files) }
        if detached {
            for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
                unsafe posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", O_RDWR, 0)
            }
        }
        if let input { unsafe posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO) }
        var vector: [UnsafeMutablePointer<CChar>?] =
            unsafe (["/bin/sh", "-c", command + " \"$@\"", command] + arguments)
            .map { unsafe strdup($0) }
        unsafe vector.append(nil)
        defer { unsafe vector.forEach { unsafe free($0) } }
        let added: [UnsafeMutablePointer<CChar>?] = unsafe environment.map { unsafe strdup($0) }
        defer { unsafe added.forEach { unsafe free($0) } }
        var variables = unsafe added
        var own = unsafe environ
        while let variable = unsafe own.pointee {
            unsafe variables.append(variable)
            unsafe own += 1
        }
        unsafe variables.append(nil)
        var child = pid_t()
        let failure = unsafe posix_spawn(&child, "/bin/sh", &files, &attributes, vector, variables)
        guard failure == 0 else { throw FileError(.read, "/bin/sh", failure) }
        return child
    }
}

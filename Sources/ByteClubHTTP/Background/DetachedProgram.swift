import CLibcurl
import Glibc

/// Programs that this one starts and that outlive it.
enum DetachedProgram {
    /// Starts a program detached from the terminal: with its own process session, default signals, the root folder as
    /// working directory, empty input, and no descriptors of this program.
    ///
    /// - Parameters:
    ///   - process: Its process ID.
    ///   - program: The path of its file.
    ///   - command: Its arguments, the name first.
    ///   - variables: Variables that it gets in addition to this program's.
    ///   - errors: Its standard error; what it writes is discarded when nil, as its output is.
    /// - Returns: The system's error number, 0 after a success.
    static func start(
        _ process: inout pid_t, _ program: String, _ command: [String], variables: [String], errors: Int32? = nil
    ) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        if let errors {
            unsafe posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }
        unsafe byteclub_spawn_detached(&actions)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        let newSession: Int32 = 0x80  // POSIX_SPAWN_SETSID
        let flags = newSession | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var words = unsafe command.map { unsafe strdup($0) } + [nil]
        var variables = unsafe (variables + inherited).map { unsafe strdup($0) } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        return unsafe posix_spawn(&process, program, &actions, &attributes, &words, &variables)
    }

    /// The status of a process that has ended; 0 when it was collected elsewhere, nil while the process runs.
    static func wait(for process: pid_t, options: Int32) -> Int32? {
        var status: Int32 = 0
        while true {
            let ended = unsafe waitpid(process, &status, options)
            if ended == process { return status }
            if ended == 0 { return nil }
            if errno != EINTR { return 0 }
        }
    }

    /// How a process ended, as the end of a sentence.
    static func words(_ status: Int32) -> String {
        let signal = status & 0x7F
        return signal == 0 ? "ended with status \(status >> 8 & 0xFF)" : "was ended by signal \(signal)"
    }

    /// This program's variables, except those about its own start.
    private static var inherited: [String] {
        let own = ["\(DaemonStart.variable)=", "\(BackgroundRelaunch.variable)=", "LISTEN_"]
        var result: [String] = []
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let variable = unsafe String(cString: text)
            if !own.contains(where: variable.hasPrefix) { result.append(variable) }
            unsafe entry += 1
        }
        return result
    }
}

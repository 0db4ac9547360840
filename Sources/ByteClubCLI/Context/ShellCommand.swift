import ByteClubFiles
import CLinux
import Dispatch
import Glibc

/// A command of the user's choice, as in `EDITOR` or `BROWSER`.
enum ShellCommand {
    /// Starts the command, with arguments of any characters after its own, and returns its process ID.
    ///
    /// A detached command has its own process group, which Ctrl-C does not reach, and no access to the terminal. `input`
    /// is its standard input, nil for the terminal; `environment` has variables in addition to those of this process.
    ///
    /// - Throws: ``FileFailure`` when it cannot be started.
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
        // Threads of tasks block most signals; an editor needs those of Ctrl-Z and of resizes.
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
        guard failure == 0 else { throw FileFailure("read", "/bin/sh", failure) }
        return child
    }

    /// Waits for a process to end: its exit code, or 128 plus a signal's number; nil when it cannot be waited for.
    static func end(of process: pid_t) -> Int32? {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return nil }
        }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
}

/// Runs blocking work away from the threads of tasks.
enum BlockingWork {
    /// Does the work on a thread of its own.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try work() })
            }
        }
    }
}

/// A program that this one replaces itself with (execv), so that rare commands load their libraries and common ones do
/// not.
struct SiblingProgram: Sendable {
    /// Hosts a club.
    static let server = SiblingProgram(
        name: "byteclub-server", title: "byteclub", advice: "install it on the machine that hosts the club")
    /// Short commands, and background transfers.
    static let client = SiblingProgram(name: "byteclub", title: "byteclub", advice: "install it")
    /// Mirrors: the same commands with the engine and its database.
    static let mirror = SiblingProgram(
        name: "byteclub-mirror", title: "byteclub-mirror", advice: "install it beside 'byteclub'")

    /// The program's file name.
    let name: String
    /// Its `argv[0]`, which it shows in messages.
    let title: String
    /// Advice when it is not installed.
    let advice: String

    /// Replaces this process with that program; returns only by throwing.
    func become(_ arguments: [String], _ context: Context) throws -> Never {
        for path in candidates(context.environment, executable: context.executable) {
            var vector: [UnsafeMutablePointer<CChar>?] = unsafe ([title] + arguments).map { unsafe strdup($0) }
            unsafe vector.append(nil)
            defer { unsafe vector.forEach { unsafe free($0) } }
            signal(SIGPIPE, SIG_DFL)
            // Threads of tasks block most signals, and a program inherits the mask.
            var none = sigset_t()
            unsafe sigemptyset(&none)
            unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
            unsafe execv(path, vector)
        }
        throw Failure(.configuration, "'\(name)' was not found beside 'byteclub' or in PATH; \(advice)")
    }

    /// Possible paths of the program: beside this one, then in PATH; never this program under another name.
    func candidates(_ environment: [String: String], executable: String?) -> [String] {
        var directories: [String] = []
        if let executable { directories.append(LocalFile.parent(of: executable)) }
        directories += (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let paths = directories.filter { $0.hasPrefix("/") }.map { $0 == "/" ? "/" + name : $0 + "/" + name }
        return paths.filter { path in
            guard let executable, let real = resolvedPath(path) else { return true }
            return real != executable
        }
    }
}

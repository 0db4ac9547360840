import Glibc
import Synchronization

/// The three pipes between the harness and a program; some may be terminals.
struct Pipes: Sendable {
    let input: (theirs: Int32, ours: Int32)
    let output: (ours: Int32, theirs: Int32)
    let errors: (ours: Int32, theirs: Int32)

    init(terminals: Set<SpawnedProcess.Stream>, columns: UInt16) throws {
        input = try Self.make()
        output = try terminals.contains(.output) ? Self.makeTerminal(columns) : Self.make()
        errors = try terminals.contains(.errors) ? Self.makeTerminal(columns) : Self.make()
    }

    /// A terminal that changes no byte; see ioctl_tty(2).
    private static func makeTerminal(_ columns: UInt16) throws -> (Int32, Int32) {
        let (setLock, openPeer): (UInt, UInt) = (0x4004_5431, 0x5441)
        let ours = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var isLocked: CInt = 0
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        var mode = termios()
        if ours >= 0, unsafe ioctl(ours, setLock, &isLocked) == 0, unsafe ioctl(ours, UInt(TIOCSWINSZ), &size) == 0 {
            let theirs = ioctl(ours, openPeer, O_RDWR | O_NOCTTY | O_CLOEXEC)
            if theirs >= 0, unsafe tcgetattr(theirs, &mode) == 0 {
                unsafe cfmakeraw(&mode)
                if unsafe tcsetattr(theirs, TCSANOW, &mode) == 0 { return (ours, theirs) }
            }
        }
        throw SpawnedProcess.SpawnError(description: "no terminal: errno \(errno)")
    }

    private static func make() throws -> (Int32, Int32) {
        var pair: [Int32] = [-1, -1]
        guard unsafe pipe(&pair) == 0 else {
            throw SpawnedProcess.SpawnError(description: "no pipe: errno \(errno)")
        }
        for descriptor in pair { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return (pair[0], pair[1])
    }

    func closeTheirs() {
        for descriptor in [input.theirs, output.theirs, errors.theirs] { close(descriptor) }
    }
}

extension SpawnedProcess {
    /// Makes pipes and a process together, so that no other process gets this one's pipes.
    static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String: String], _ directory: String,
        _ terminals: Set<Stream>, _ columns: UInt16
    ) throws -> (pid_t, Pipes) {
        let start = directory == "/" ? [path] : ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", directory, path]
        return try turn.withLock { _ in
            let pipes = try Pipes(terminals: terminals, columns: columns)
            defer { pipes.closeTheirs() }
            return (try spawn(start + arguments, environment, pipes), pipes)
        }
    }

    private static let turn = Mutex(())

    private static func spawn(_ words: [String], _ environment: [String: String], _ pipes: Pipes) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, pipes.input.theirs, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, pipes.output.theirs, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, pipes.errors.theirs, 2)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = Int32(POSIX_SPAWN_SETPGROUP) | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

        var copies = unsafe words.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer { unsafe (copies + variables).forEach { unsafe free($0) } }
        var pid: pid_t = 0
        let code = unsafe posix_spawn(&pid, words[0], &actions, &attributes, &copies, &variables)
        guard code == 0 else {
            for descriptor in [pipes.input.ours, pipes.output.ours, pipes.errors.ours] { close(descriptor) }
            throw SpawnError(description: "cannot start \(words[0]): \(unsafe String(cString: strerror(code)))")
        }
        return pid
    }
}

import Glibc
import Synchronization

/// A program in a session of its own, with a terminal that it controls.
///
/// As at somebody's shell, what is typed is echoed, and Ctrl-C is a signal. The terminal answers no question.
public final class TerminalSession: Sendable {
    private struct State {
        var output: [UInt8] = []
        var status: Int32?
    }

    /// The program's process.
    public let pid: Int32
    private let ours: Int32
    /// Kept open, so that the modes can be read when nobody else has the terminal open.
    private let theirs: Int32
    private let state = Mutex(State())
    /// The terminal's modes before the program was there.
    private let modesBefore: [UInt32]

    /// Starts a program; it is killed after two minutes.
    ///
    /// - Parameters:
    ///   - path: The program's file.
    ///   - arguments: What follows the program's name.
    ///   - environment: All of the program's environment.
    /// - Throws: ``SpawnedProcess/SpawnError`` when there is no terminal or no process.
    public init(_ path: String, _ arguments: [String], environment: [String: String]) throws {
        // See ioctl_tty(2).
        let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        ours = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (isLocked, number): (CInt, CInt) = (0, 0)
        var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
        guard ours >= 0, unsafe ioctl(ours, setLock, &isLocked) == 0, unsafe ioctl(ours, getNumber, &number) == 0,
            unsafe ioctl(ours, UInt(TIOCSWINSZ), &size) == 0
        else { throw SpawnedProcess.SpawnError(description: "no terminal: errno \(errno)") }
        let name = "/dev/pts/\(number)"
        theirs = unsafe open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        modesBefore = Self.modes(of: theirs)

        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that the leader of a session opens becomes the session's.
        unsafe posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        for descriptor in [Int32(1), 2] { unsafe posix_spawn_file_actions_adddup2(&actions, 0, descriptor) }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        let newSession: Int32 = 0x80
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(newSession | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)))
        var copies = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer { unsafe (copies + variables).forEach { unsafe free($0) } }
        var child: pid_t = 0
        let code = unsafe posix_spawn(&child, path, &actions, &attributes, &copies, &variables)
        guard code == 0 else { throw SpawnedProcess.SpawnError(description: "cannot start \(path): errno \(code)") }
        pid = child
        BackgroundThread.start { self.pump() }
    }

    deinit {
        close(ours)
        close(theirs)
    }

    /// What the terminal has got so far.
    public var text: String { state.withLock { String(decoding: $0.output, as: UTF8.self) } }

    /// The exit code, or 128 plus the number of the signal that ended the program; nil while it runs.
    public var status: Int32? { state.withLock { $0.status } }

    /// Whether the terminal's modes are those of before the program.
    public var hasModesOfBefore: Bool { Self.modes(of: theirs) == modesBefore }

    /// Types something, such as Ctrl-C, which is 3.
    public func type(_ bytes: [UInt8]) { _ = unsafe write(ours, bytes, bytes.count) }

    /// Sends the program a signal.
    public func send(_ signal: Int32) { kill(pid, signal) }

    /// Presses Ctrl-C, again each second, until the program has ended.
    ///
    /// - Returns: What ``status`` says, and the seconds that it took.
    public func interrupt() async throws -> (status: Int32, seconds: Double) {
        let start = ContinuousClock.now
        var presses = 0
        while true {
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            if let status { return (status, seconds) }
            if seconds >= Double(presses) {
                type([3])
                presses += 1
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private static func modes(of descriptor: Int32) -> [UInt32] {
        var modes = termios()
        guard unsafe tcgetattr(descriptor, &modes) == 0 else { return [] }
        return [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
    }

    private func pump() {
        let end = ContinuousClock.now + .seconds(120)
        var status: Int32?
        while true {
            var polled = pollfd(fd: ours, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&polled, 1, 5) > 0 {
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                let count = unsafe read(ours, &buffer, buffer.count)
                if count > 0 {
                    state.withLock { $0.output += buffer.prefix(count) }
                    continue
                }
            }
            if let status { return state.withLock { $0.status = status } }
            if ContinuousClock.now > end { kill(pid, SIGKILL) }
            var code: Int32 = 0
            if unsafe waitpid(pid, &code, WNOHANG) == pid {
                status = code & 0x7F == 0 ? (code >> 8) & 0xFF : 128 + (code & 0x7F)
            }
        }
    }
}

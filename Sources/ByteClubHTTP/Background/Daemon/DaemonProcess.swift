import CLibcurl
import Glibc

/// A daemon that this program has started, until it is ready.
///
/// Its calls block. Belongs to one thread.
struct DaemonProcess: ~Copyable {
    enum Outcome {
        case connected(FrameConnection)
        /// It ended in order, since another daemon runs.
        case notNeeded
    }

    private let program: String
    private let process: pid_t
    /// What it writes to standard error comes here, until it is ready or ends.
    private let errors: Int32
    private var said: [UInt8] = []
    /// Whether its end was asked for; its number may be another process's then.
    private var isReaped = false

    /// The most of what it says that is kept, and shown.
    private static let mostSaid = 4096
    private static let mostShown = 500

    /// Starts the service's program, detached from the terminal: a session of its own, the usual signals, in the root
    /// folder, nothing to read.
    ///
    /// - Throws: ``TransferError/Code/daemonUnavailable``.
    init(_ service: BackgroundService) throws(TransferError) {
        guard let program = service.command.first, program.hasPrefix("/") else {
            throw TransferError(
                .daemonUnavailable,
                "'\(service.command.first ?? "")' is no absolute path of a program that could be the daemon")
        }
        var ends: [Int32] = [-1, -1]
        guard unsafe byteclub_pipe(&ends) == 0, let reader = ends.first, let writer = ends.last else {
            throw TransferError(.daemonUnavailable, "the daemon cannot be started: \(systemMessage(errno))")
        }
        defer { close(writer) }
        var process: pid_t = 0
        let code = Self.spawn(&process, program, service, errors: writer)
        guard code == 0 else {
            close(reader)
            throw TransferError(
                .daemonUnavailable, "the daemon '\(program)' cannot be started: \(systemMessage(code))")
        }
        self.program = program
        self.process = process
        errors = reader
    }

    deinit {
        close(errors)
        if isReaped { return }
        // However long the daemon lives, its end leaves nothing behind; when this program ends first, init sees to that.
        let process = process
        if let thread = try? SystemThread.start({ _ = Self.wait(for: process, options: 0) }) { pthread_detach(thread) }
    }

    /// Waits until the daemon listens, or has ended.
    ///
    /// - Parameters:
    ///   - end: For how long.
    ///   - connect: Tries to connect to whichever daemon runs.
    /// - Returns: The connection, or that another daemon has the place.
    /// - Throws: ``TransferError/Code/daemonUnavailable`` when it failed.
    mutating func becomesReady(
        before end: Moment, connecting connect: () throws(TransferError) -> FrameConnection?
    ) throws(TransferError) -> Outcome {
        try listen(before: end)
        var pause = GrowingPause(from: 500, to: 50_000, until: end)
        while true {
            if let connection = try connect() { return .connected(connection) }
            // Its end may be seen a moment after that of its output.
            if let status = Self.wait(for: process, options: WNOHANG) {
                isReaped = true
                if status == 0 { return .notNeeded }
                throw TransferError(.daemonUnavailable, "the daemon '\(program)' \(Self.words(status))\(lastLine)")
            }
            guard pause.pass() else { throw late }
        }
    }

    /// It takes too long.
    var late: TransferError {
        TransferError(.daemonUnavailable, "the daemon '\(program)' does not start\(lastLine)")
    }

    /// Hears what the daemon says until it is ready.
    private mutating func listen(before end: Moment) throws(TransferError) {
        var chunk = [UInt8](repeating: 0, count: 1024)
        while true {
            var entry = pollfd(fd: errors, events: Int16(POLLIN), revents: 0)
            let left = Moment.fine.duration(to: end).wholeMilliseconds
            let isReadable = unsafe poll(&entry, 1, Int32(left))
            if isReadable < 0, errno == EINTR { continue }
            if isReadable == 0 {
                kill(process, SIGTERM)
                throw late
            }
            let count = unsafe read(errors, &chunk, chunk.count)
            if count == 0 { return }
            if count > 0 { said = (said + chunk[..<count]).suffix(Self.mostSaid) }
        }
    }

    /// What it said last, as the end of a sentence.
    private var lastLine: String {
        let lines = String(decoding: said, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard let line = lines.last(where: { !$0.allSatisfy(\.isWhitespace) }) else { return "" }
        return ": \(line.filter { $0 != "\u{1B}" }.prefix(Self.mostShown))"
    }

    private static func words(_ status: Int32) -> String {
        let signal = status & 0x7F
        return signal == 0 ? "ended with status \(status >> 8 & 0xFF)" : "was ended by signal \(signal)"
    }

    /// The status of a process that has ended; 0 when somebody else has asked for it, nil while it runs.
    private static func wait(for process: pid_t, options: Int32) -> Int32? {
        var status: Int32 = 0
        while true {
            let ended = unsafe waitpid(process, &status, options)
            if ended == process { return status }
            if ended == 0 { return nil }
            if errno != EINTR { return 0 }
        }
    }

    private static func spawn(
        _ process: inout pid_t, _ program: String, _ service: BackgroundService, errors: Int32
    ) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
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
        var words = unsafe service.command.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment(service).map { unsafe strdup($0) } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        return unsafe posix_spawn(&process, program, &actions, &attributes, &words, &variables)
    }

    /// This program's variables, and the one that says how the daemon was started.
    private static func environment(_ service: BackgroundService) -> [String] {
        var result = ["\(DaemonStart.variable)=\(service.folder)"]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let variable = unsafe String(cString: text)
            // Who was started as a daemon, or by systemd, does not pass that on.
            let isOurs = ["\(DaemonStart.variable)=", "LISTEN_"].contains { variable.hasPrefix($0) }
            if !isOurs { result.append(variable) }
            unsafe entry += 1
        }
        return result
    }
}

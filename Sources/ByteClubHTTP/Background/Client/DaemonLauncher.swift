import CLibcurl
import Glibc

/// Connects to a service's daemon, and starts one if none runs.
enum DaemonLauncher {
    /// How long a daemon may take to become ready.
    private static let patience: Duration = .seconds(60)

    /// Connects; the first message to send is ``DaemonCall/hello(version:)``.
    ///
    /// Several programs may start a daemon at the same time: one daemon stays, the others end, and all programs connect to
    /// the one that stays.
    ///
    /// - Throws: ``TransferError/Code/daemonUnavailable``, with the last line of a failed daemon's standard error.
    static func connect(_ service: BackgroundService, isStarting: Bool) async throws(TransferError) -> FrameConnection {
        try await OwnThread.run {
            Result { () throws(TransferError) in try reach(service, isStarting: isStarting) }
        }.get()
    }

    private static func reach(_ service: BackgroundService, isStarting: Bool) throws(TransferError) -> FrameConnection {
        let end = Moment.fine.advanced(by: isStarting ? patience : .seconds(DaemonConnector.patience))
        var pause = GrowingPause(next: 2000, longest: 100_000, end: end)
        while true {
            // Where systemd listens, connecting makes it start the daemon.
            let isRunning = isStarting || DaemonLock.isHeld(service.lockPath)
            if isRunning, let connection = try connect(service) { return connection }
            guard isStarting else {
                guard isRunning else {
                    throw TransferError(
                        .daemonUnavailable, "no daemon of background transfers runs for \(service.folder)")
                }
                // The daemon is about to listen, or to end.
                guard pause.pass() else { throw service.silence }
                continue
            }
            var daemon = try DaemonProcess(service)
            switch try daemon.becomesReady(
                before: end, connecting: { () throws(TransferError) in try connect(service) })
            {
            case .connected(let connection): return connection
            case .notNeeded:
                // Another daemon has the lock and is about to listen, or to end.
                guard pause.pass() else { throw daemon.late }
            }
        }
    }

    private static func connect(_ service: BackgroundService) throws(TransferError) -> FrameConnection? {
        do throws(TransferError) {
            let connection = try FrameConnection.connect(to: service.socketPath)
            if let connection { try check(connection.peer, service) }
            return connection
        } catch {
            throw error.code == .timedOut ? service.silence : error
        }
    }

    /// Refuses another user's daemon, which could misuse this user's files.
    static func check(_ peer: uid_t?, _ service: BackgroundService) throws(TransferError) {
        guard peer == geteuid() else {
            let owner = peer.map { "user \($0)" } ?? "an unknown user"
            throw TransferError(
                .daemonUnavailable,
                "'\(service.socketPath)' belongs to \(owner), not to this one; choose a folder of this user")
        }
    }
}

/// A daemon that this program has started, until it is ready.
///
/// Its methods block. Belongs to one thread.
struct DaemonProcess: ~Copyable {
    enum Outcome {
        case connected(FrameConnection)
        /// The process ended with status 0, since another daemon runs.
        case notNeeded
    }

    private let program: String
    private let process: pid_t
    /// The reading end of its standard error, until it is ready or ends.
    private let errors: Int32
    private var output: [UInt8] = []
    /// Whether its exit status was collected, after which the system may reuse its ID.
    private var isReaped = false

    /// How much of the output is kept, in bytes, and shown, in characters.
    private static let mostOutput = 4096
    private static let mostShown = 500

    /// Starts the service's program; see ``DetachedProgram``.
    ///
    /// - Throws: ``TransferError/Code/daemonUnavailable``.
    init(_ service: BackgroundService) throws(TransferError) {
        guard let program = service.command.first, program.hasPrefix("/") else {
            throw TransferError(
                .daemonUnavailable,
                "the daemon's program '\(service.command.first ?? "")' is not an absolute path")
        }
        var ends: [Int32] = [-1, -1]
        guard unsafe byteclub_pipe(&ends) == 0, let reader = ends.first, let writer = ends.last else {
            throw TransferError(.daemonUnavailable, "the daemon cannot be started: \(systemMessage(errno))")
        }
        defer { close(writer) }
        var process: pid_t = 0
        let folder = "\(DaemonStart.variable)=\(service.folder)"
        let code = DetachedProgram.start(&process, program, service.command, variables: [folder], errors: writer)
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
        // Collects the exit status, so that no zombie is left; if this program ends first, init does it.
        let process = process
        try? OwnThread.start { _ = DetachedProgram.wait(for: process, options: 0) }
    }

    /// Waits until the daemon listens, or has ended.
    ///
    /// - Throws: ``TransferError/Code/daemonUnavailable`` when the daemon failed.
    mutating func becomesReady(
        before end: Moment, connecting connect: () throws(TransferError) -> FrameConnection?
    ) throws(TransferError) -> Outcome {
        try listen(before: end)
        var pause = GrowingPause(next: 500, longest: 50_000, end: end)
        while true {
            if let connection = try connect() { return .connected(connection) }
            // Its exit may show a moment after the end of its output.
            if let status = DetachedProgram.wait(for: process, options: WNOHANG) {
                isReaped = true
                if status == 0 { return .notNeeded }
                let end = DetachedProgram.words(status)
                throw TransferError(.daemonUnavailable, "the daemon '\(program)' \(end)\(lastLine)")
            }
            guard pause.pass() else { throw late }
        }
    }

    /// The error for a daemon that takes too long.
    var late: TransferError {
        TransferError(.daemonUnavailable, "the daemon '\(program)' does not start\(lastLine)")
    }

    /// Reads the daemon's output until it is ready, which closes its standard error.
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
            if count > 0 { output = (output + chunk[..<count]).suffix(Self.mostOutput) }
        }
    }

    /// The last line of its output, as the end of a sentence.
    private var lastLine: String {
        let lines = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard let line = lines.last(where: { !$0.allSatisfy(\.isWhitespace) }) else { return "" }
        return ": \(line.filter { $0 != "\u{1B}" }.prefix(Self.mostShown))"
    }
}

/// Pauses between polls, each twice as long as the one before; blocks its thread.
struct GrowingPause {
    /// The next pause, in microseconds; less than a second.
    var next: UInt32
    let longest: UInt32
    /// When polling ends.
    let end: Moment

    /// Sleeps for the next pause; false at once when polling has ended.
    mutating func pass() -> Bool {
        guard Moment.fine < end else { return false }
        usleep(next)
        next = min(next * 2, longest)
        return true
    }
}

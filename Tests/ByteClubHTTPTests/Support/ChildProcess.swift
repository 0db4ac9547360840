import Glibc

/// Another program, with nothing to read and nowhere to write.
final class ChildProcess {
    private var process: pid_t = 0
    /// As waitpid(2) gave it.
    private var status: Int32?

    init?(_ program: String, _ arguments: [String], _ environment: [String] = []) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for descriptor: Int32 in [0, 1, 2] {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        let path = unsafe getenv("PATH").map { unsafe "PATH=" + String(cString: $0) } ?? "PATH=/usr/bin:/bin"
        let libraries = unsafe getenv("LD_LIBRARY_PATH").map { unsafe "LD_LIBRARY_PATH=" + String(cString: $0) }
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        var variables = unsafe ([path] + [libraries].compactMap { $0 } + environment).map { unsafe strdup($0) } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        guard unsafe posix_spawn(&process, program, &actions, nil, &words, &variables) == 0 else { return nil }
    }

    /// Tests of this very program in another process.
    convenience init?(running filter: String, _ environment: [String]) {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return nil }
        let program = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.init(program, ["--testing-library", "swift-testing", "--filter", filter], environment)
    }

    /// Whether the program has ended.
    var hasEnded: Bool {
        var status: Int32 = -1
        if self.status == nil, unsafe waitpid(process, &status, WNOHANG) != 0 { self.status = status }
        return self.status != nil
    }

    /// Stops the program; false if it has ended.
    func stop() -> Bool {
        send(SIGSTOP)
        var status: Int32 = -1
        while self.status == nil {
            guard unsafe waitpid(process, &status, WUNTRACED) < 0 else {
                // The low byte of a stopped program's status.
                if status & 0xFF == 0x7F { return true }
                self.status = status
                return false
            }
            guard errno == EINTR else { return false }
        }
        return false
    }

    /// Ends the stop.
    func proceed() { send(SIGCONT) }

    func terminate() { send(SIGTERM) }

    /// Ends the program without letting it do anything more.
    func destroy() { send(SIGKILL) }

    /// The exit status as waitpid(2) gives it; 0 is success.
    func wait() -> Int32 {
        if let status { return status }
        var status: Int32 = -1
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        self.status = status
        return status
    }

    private func send(_ signal: Int32) {
        // Afterwards the number may be another program's.
        if status == nil { kill(process, signal) }
    }
}

public import Glibc
import Synchronization

/// A program that runs in a process group of its own, with its output captured while it runs.
///
/// One thread moves the bytes of its pipes; nothing blocks the cooperative pool. A process that is dropped runs on
/// until its time is over.
public final class SpawnedProcess: Sendable {
    /// Why no process was made.
    public struct SpawnError: Error, CustomStringConvertible {
        /// The command and the system's reason.
        public let description: String
    }

    struct State {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var result: ProgramResult?
        var isReaped = false
        var peakMemory: Int64 = 0
        var waiters: [CheckedContinuation<ProgramResult, Never>] = []
        var watchers: [Watcher] = []
    }

    struct Watcher {
        let stream: Stream
        let matches: @Sendable (String) -> Bool
        let continuation: CheckedContinuation<String?, Never>
    }

    /// What a program writes to.
    public enum Stream: Sendable {
        /// Standard output.
        case output
        /// Standard error.
        case errors
    }

    /// The process's number, which also is its group's.
    public let pid: pid_t
    let command: String
    let state = Mutex(State())

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: The program's file.
    ///   - arguments: What follows the program's name.
    ///   - environment: All of the program's environment.
    ///   - directory: Where it starts.
    ///   - input: What it can read from standard input.
    ///   - timeout: After which it is killed with its group.
    ///   - terminals: Which of its outputs are terminals.
    ///   - columns: The terminals' width.
    /// - Throws: ``SpawnError`` when the program cannot be started.
    public init(
        _ path: String, _ arguments: [String] = [], environment: [String: String], directory: String = "/",
        input: [UInt8] = [], timeout: Duration = .seconds(60), terminals: Set<Stream> = [], columns: UInt16 = 100
    ) throws {
        command = ([path.split(separator: "/").last.map(String.init) ?? path] + arguments).joined(separator: " ")
        let (pid, pipes) = try Self.spawn(path, arguments, environment, directory, terminals, columns)
        self.pid = pid
        let pump = OutputPump(process: self, pipes: pipes, input: input, timeout: timeout)
        BackgroundThread.start { pump.run() }
    }

    /// Sends a signal to the process, not to its group; nothing happens when it has ended.
    public func send(_ signal: Int32) {
        state.withLock { if !$0.isReaped { _ = kill(pid, signal) } }
    }

    /// Ends the process and what it started at once, as a crash would.
    public func kill9() {
        state.withLock { if !$0.isReaped { _ = kill(-pid, SIGKILL) } }
    }

    /// What the process has written to standard error so far.
    public var errorsSoFar: String { state.withLock { String(decoding: $0.errors, as: UTF8.self) } }

    /// Whether the process has ended.
    public var hasEnded: Bool { state.withLock { $0.result != nil } }

    /// Waits for the process to end.
    public func result() async -> ProgramResult {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state -> ProgramResult? in
                if state.result == nil { state.waiters.append(continuation) }
                return state.result
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    /// Waits for a whole line; nil when the program ends without having written one.
    public func line(
        of stream: Stream = .output, where matches: @escaping @Sendable (String) -> Bool
    ) async -> String? {
        await withCheckedContinuation { continuation in
            let watcher = Watcher(stream: stream, matches: matches, continuation: continuation)
            let (found, ended) = state.withLock { state -> (String?, Bool) in
                let found = watcher.search(state)
                if found == nil, state.result == nil { state.watchers.append(watcher) }
                return (found, state.result != nil)
            }
            if found != nil || ended { continuation.resume(returning: found) }
        }
    }

    /// The most memory the process has held in RAM so far, in bytes; 0 when it has ended.
    public func currentPeakMemory() -> Int64 { Self.highWaterMark(of: pid) }

    /// The memory that the process holds in RAM now, in bytes; 0 when it has ended.
    public func currentMemory() -> Int64 { Self.memory("VmRSS:", of: pid) }

    /// The most memory a process has held in RAM.
    ///
    /// It is `VmHWM`, which, unlike `ru_maxrss`, does not count what the parent held when it started the child.
    static func highWaterMark(of pid: pid_t) -> Int64 { memory("VmHWM:", of: pid) }

    private static func memory(_ name: String, of pid: pid_t) -> Int64 {
        let status = String(decoding: Fixture.bytes(at: "/proc/\(pid)/status"), as: UTF8.self)
        for line in status.split(separator: "\n") where line.hasPrefix(name) {
            return (line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int64($0) } ?? 0) * 1024
        }
        return 0
    }
}

extension SpawnedProcess.Watcher {
    func search(_ state: SpawnedProcess.State) -> String? {
        let bytes = stream == .output ? state.output : state.errors
        guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return nil }
        return String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n").map(String.init)
            .first(where: matches)
    }
}

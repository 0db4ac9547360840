import CLinux
import Glibc
import Synchronization

/// Moves the bytes of one program's pipes on a thread of its own until the program has ended, then tells how.
struct OutputPump: Sendable {
    private static let tick: Int32 = 5

    let process: SpawnedProcess
    let pipes: Pipes
    let input: [UInt8]
    let timeout: Duration

    func run() {
        let clock = ContinuousClock()
        let start = clock.now
        var written = 0
        var open: Set<Int32> = [pipes.input.ours, pipes.output.ours, pipes.errors.ours]
        var exit: Exit?
        var isTimedOut = false
        var ended = start
        while true {
            if open.contains(pipes.input.ours), written == input.count { closePipe(pipes.input.ours, &open) }
            let ready = wait(for: open)
            if ready.contains(pipes.input.ours) { write(&written, &open) }
            if ready.contains(pipes.output.ours) { read(pipes.output.ours, .output, &open) }
            if ready.contains(pipes.errors.ours) { read(pipes.errors.ours, .errors, &open) }
            if exit == nil {
                let peak = SpawnedProcess.highWaterMark(of: process.pid)
                process.state.withLock { $0.peakMemory = max($0.peakMemory, peak) }
                exit = reap()
                ended = clock.now
            } else if ready.isEmpty || clock.now - ended > .seconds(1) {
                // Nothing is left in the pipes, or somebody else keeps them open.
                break
            }
            if exit != nil, open.isEmpty { break }
            if exit == nil, !isTimedOut, clock.now - start > timeout {
                isTimedOut = true
                process.kill9()
            }
        }
        for descriptor in open { close(descriptor) }
        finish(exit ?? Exit(status: 0, signal: nil, processorSeconds: 0), isTimedOut, ended - start)
    }

    /// The pipes that can be read or written without blocking; empty after a few milliseconds.
    private func wait(for open: Set<Int32>) -> Set<Int32> {
        var polled = open.map { descriptor in
            pollfd(fd: descriptor, events: Int16(descriptor == pipes.input.ours ? POLLOUT : POLLIN), revents: 0)
        }
        guard unsafe poll(&polled, nfds_t(polled.count), Self.tick) > 0 else { return [] }
        return Set(polled.filter { $0.revents != 0 }.map(\.fd))
    }

    private func closePipe(_ descriptor: Int32, _ open: inout Set<Int32>) {
        close(descriptor)
        open.remove(descriptor)
    }

    /// A pipe that is ready takes this much without blocking.
    private func write(_ written: inout Int, _ open: inout Set<Int32>) {
        let next = Array(input[written...].prefix(Int(PIPE_BUF)))
        let count = unsafe Glibc.write(pipes.input.ours, next, next.count)
        if count > 0 { written += count } else { closePipe(pipes.input.ours, &open) }
    }

    private func read(_ descriptor: Int32, _ stream: SpawnedProcess.Stream, _ open: inout Set<Int32>) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return closePipe(descriptor, &open) }
        take(Array(buffer.prefix(count)), stream)
    }

    private func take(_ bytes: [UInt8], _ stream: SpawnedProcess.Stream) {
        let found = process.state.withLock { state -> [(SpawnedProcess.Watcher, String)] in
            switch stream {
            case .output: state.output += bytes
            case .errors: state.errors += bytes
            }
            var found: [(SpawnedProcess.Watcher, String)] = []
            var waiting: [SpawnedProcess.Watcher] = []
            for watcher in state.watchers {
                if let line = watcher.search(state) {
                    found.append((watcher, line))
                } else {
                    waiting.append(watcher)
                }
            }
            state.watchers = waiting
            return found
        }
        for (watcher, line) in found { watcher.continuation.resume(returning: line) }
    }

    /// Takes the exit code under the lock, so that no signal is ever sent to a number that is somebody else's by now.
    private func reap() -> Exit? {
        process.state.withLock { state in
            var status: Int32 = 0
            var usage = rusage()
            guard unsafe wait4(process.pid, &status, WNOHANG, &usage) == process.pid else { return nil }
            state.isReaped = true
            let signal = status & 0x7F
            let seconds = [usage.ru_utime, usage.ru_stime].reduce(0) {
                $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1_000_000
            }
            return signal == 0
                ? Exit(status: (status >> 8) & 0xFF, signal: nil, processorSeconds: seconds)
                : Exit(status: 128 + signal, signal: signal, processorSeconds: seconds)
        }
    }

    /// How a process has ended.
    private struct Exit {
        var status: Int32
        var signal: Int32?
        var processorSeconds: Double
    }

    private func finish(_ exit: Exit, _ isTimedOut: Bool, _ time: Duration) {
        let (result, waiters, watchers) = process.state.withLock { state in
            let result = ProgramResult(
                command: process.command, status: exit.status, signal: exit.signal, isTimedOut: isTimedOut,
                output: state.output, errors: state.errors, peakMemory: state.peakMemory,
                processorSeconds: exit.processorSeconds, seconds: time / .seconds(1))
            state.result = result
            defer {
                state.waiters = []
                state.watchers = []
            }
            return (result, state.waiters, state.watchers)
        }
        for watcher in watchers { watcher.continuation.resume(returning: nil) }
        for waiter in waiters { waiter.resume(returning: result) }
    }
}

import Glibc
import Synchronization

/// The connections of a daemon that runs already, for a program that would have to load libcurl and connect first.
///
/// Any thread may use it; who drops it lets the daemon go.
public final class WarmConnections: Sendable {
    private struct State {
        var last: UInt64 = 0
        var isReading = false
        var isOver = false
        var waiting: [UInt64: Waiter<DaemonAnswer?>] = [:]
    }

    /// What the reading thread shares, so that it does not keep its owner.
    private final class Shared: Sendable {
        let connection: FrameConnection
        let state = Mutex(State())

        init(_ connection: FrameConnection) { self.connection = connection }

        func end() {
            let waiting = state.withLock { state in
                state.isOver = true
                defer { state.waiting = [:] }
                return state.waiting
            }
            for waiter in waiting.values { waiter.resume(nil) }
        }

        func read() {
            defer { end() }
            // A daemon that does not even greet is stuck: then this program asks by itself.
            connection.limitWait(milliseconds: Int(WarmConnections.patience))
            guard case .answer(number: 0, .hello(DaemonFrame.version, _)) = try? connection.receive() else { return }
            connection.limitWait(milliseconds: 0)
            while case .answer(let number, let answer) = try? connection.receive() {
                state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(answer)
            }
        }
    }

    /// How long a daemon may take to greet, and to tell what it knows, in milliseconds.
    private static let patience: Int64 = 1000
    private static let longestTimeout: Int64 = 86_400_000

    private let shared: Shared

    private init(_ connection: FrameConnection) { shared = Shared(connection) }

    deinit { shared.connection.shutdown() }

    /// Connects to a daemon, if one runs; blocks for microseconds, and has systemd start none.
    ///
    /// - Parameter service: Whose daemon.
    /// - Returns: Its connections; nil when none runs, or it is not this user's.
    public static func find(_ service: BackgroundService) -> WarmConnections? {
        guard DaemonLock.isHeld(service.lockPath),
            let connection = try? FrameConnection.connect(to: service.socketPath, waiting: 0),
            connection.peer == geteuid(),
            (try? connection.send(.call(number: 0, .hello(version: DaemonFrame.version)))) != nil
        else { return nil }
        return WarmConnections(connection)
    }

    /// Makes a request.
    ///
    /// - Returns: The answer; nil when none came, since the daemon is gone, stuck or another version, or the Swift task
    ///   was cancelled.
    func perform(_ request: RelayedRequest) async -> DaemonAnswer? {
        let number = shared.state.withLock { state in
            state.last += 1
            return state.last
        }
        let timeout = Duration.milliseconds(min(request.timeoutForRequest, Self.longestTimeout) + Self.patience)
        let limit = Task.detached { [shared] in
            try await Task.sleep(for: timeout)
            // By then a daemon that works has told that the request takes too long.
            if shared.state.withLock({ $0.waiting[number] != nil }) { shared.connection.shutdown() }
        }
        defer { limit.cancel() }
        return await withTaskCancellationHandler {
            await Waiter<DaemonAnswer?>.value { waiter in
                let isOver = shared.state.withLock { state in
                    if state.isOver || Task.isCancelled { return true }
                    if !state.isReading { state.isReading = start() }
                    guard state.isReading else { return true }
                    state.waiting[number] = waiter
                    return false
                }
                if isOver { return .some(nil) }
                if (try? shared.connection.send(.call(number: number, .relay(request)))) == nil {
                    shared.connection.shutdown()
                }
                return nil
            }
        } onCancel: {
            shared.state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(nil)
        }
    }

    /// Starts to read answers.
    private func start() -> Bool {
        let shared = shared
        guard let thread = try? SystemThread.start({ shared.read() }) else { return false }
        pthread_detach(thread)
        return true
    }
}

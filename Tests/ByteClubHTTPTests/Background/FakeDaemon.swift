import Glibc
import Synchronization
import TestSupport

@testable import ByteClubHTTP

/// A daemon that records tasks in memory, does none of them, and fails where a test wants it.
final class FakeDaemon: Sendable {
    /// The fate of a call.
    enum Fate: Sendable {
        case answered
        /// The daemon ends with all connections, and the tasks stay recorded.
        case dies
        /// The daemon carries out the call, and ends before it answers.
        case diesUnanswered
        case refused(String)
        case never
        case with(DaemonAnswer)
    }

    struct State {
        var tasks: [BackgroundStatus] = []
        var sequence: UInt64 = 0
        var schedule = RateSchedule()
        var attached: [String: Int] = [:]
        var watchers: Set<Int> = []
        var connections: [Int: FrameConnection] = [:]
        var fate: @Sendable (DaemonCall) -> Fate = { _ in .answered }
    }

    let service: BackgroundService
    /// All calls but the greetings.
    let calls = Log<DaemonCall>()
    /// When each connection began and ended.
    let connections = Log<Bool>()
    private let folder: TemporaryFolder
    private let listener: Int32
    private let lock: Mutex<Int32>
    private let state = Mutex(State())

    /// - Parameter isRunning: Whether it has the lock; without it the socket is one that systemd keeps for a daemon.
    init(isRunning: Bool = true) {
        let folder = TemporaryFolder()
        self.folder = folder
        service = BackgroundService(folder: folder.path, command: ["/nonexistent"])
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        lock = Mutex(isRunning ? (try? DaemonLock.take(service.lockPath)) ?? -1 : -1)
        let isBound = unsafe (try? UnixAddress(service.socketPath))?.withPointer { unsafe bind(listener, $0, $1) } == 0
        precondition(isBound && listen(listener, 64) == 0, "the test needs a socket")
        BackgroundThread.start { [weak self] in
            var number = 0
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { return }
                let connection = FrameConnection(descriptor: descriptor)
                number += 1
                let name = number
                BackgroundThread.start { [weak self] in self?.serve(connection, name) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        unlock()
        end()
    }

    private func unlock() {
        lock.withLock { lock in
            if lock >= 0 { close(lock) }
            lock = -1
        }
    }

    /// Connects clients, without delays between attempts.
    var connector: DaemonConnector { connector(isStarting: true) }

    func connector(isStarting: Bool) -> DaemonConnector {
        var connector = DaemonConnector(service, isStarting: isStarting) { service, _ throws(TransferError) in
            guard let connection = try FrameConnection.connect(to: service.socketPath) else {
                throw TransferError(.daemonUnavailable, "nobody listens")
            }
            return connection
        }
        connector.pause = { _ in await Task.yield() }
        return connector
    }

    var tasks: [BackgroundStatus] { state.withLock { $0.tasks } }

    /// Sets the fate of later calls.
    func decide(_ fate: @escaping @Sendable (DaemonCall) -> Fate) { state.withLock { $0.fate = fate } }

    /// Sets the fate of the first such call; all others are answered.
    func decideOnce(_ fate: Fate, for isMeant: @escaping @Sendable (DaemonCall) -> Bool) {
        let isDone = Once()
        decide { call in isMeant(call) && isDone.first() ? fate : .answered }
    }

    /// Ends as if killed.
    func end() {
        let connections = state.withLock { state in
            state.attached = [:]
            state.watchers = []
            defer { state.connections = [:] }
            return Array(state.connections.values)
        }
        for connection in connections { connection.shutdown() }
    }

    /// Ends, and cannot be started again.
    func stopListening() {
        shutdown(listener, Int32(SHUT_RDWR))
        unlock()
        end()
    }

    /// Records a task of another program.
    @discardableResult
    func add(_ identifier: String, label: String = "") -> BackgroundTask.ID {
        let id = BackgroundTask.ID.random()
        var request = BackgroundRequest(.custom(kind: "test", payload: []))
        request.options.label = label
        let frames = state.withLock { state in
            let status = state.add(Submission(id: id, request: request), identifier)
            return state.frames(.status(status), identifier)
        }
        tell(frames)
        return id
    }

    /// Changes a task's status, and sends it.
    func change(_ id: BackgroundTask.ID, _ change: (inout BackgroundStatus) -> Void) {
        tell(state.withLock { $0.change(id, change) })
    }

    func finish(_ id: BackgroundTask.ID, _ bytes: [UInt8] = []) {
        change(id) { status in
            status.state = .done
            status.result = BackgroundResult(status: 200, bytes: bytes)
        }
    }

    func fail(_ id: BackgroundTask.ID) {
        change(id) { status in
            status.state = .failed
            status.failure = BackgroundFailure(code: "tls", message: "not trusted")
        }
    }

    func forget(_ id: BackgroundTask.ID) {
        tell(
            state.withLock { state in
                guard let index = state.tasks.firstIndex(where: { $0.id == id }) else { return [] }
                return state.frames(.gone(id), state.tasks.remove(at: index).identifier)
            })
    }

    private typealias Sending = (FrameConnection, DaemonFrame)

    private func tell(_ frames: [Sending]) {
        for (connection, frame) in frames { try? connection.send(frame) }
    }

    private func serve(_ connection: FrameConnection, _ name: Int) {
        state.withLock { $0.connections[name] = connection }
        connections.add(true)
        while case .call(let number, let call)? = try? connection.receive() {
            if case .hello = call {} else { calls.add(call) }
            let (fate, frames) = state.withLock { state -> (Fate, [Sending]) in
                let fate = state.fate(call)
                switch fate {
                case .answered, .diesUnanswered:
                    let (answer, events) = state.answer(call, name, connection)
                    return (fate, [(connection, .answer(number: number, answer))] + events)
                case .refused(let code):
                    return (
                        fate, [(connection, .answer(number: number, .refused(code: code, message: "refused: \(code)")))]
                    )
                case .with(let answer): return (fate, [(connection, .answer(number: number, answer))])
                case .dies, .never: return (fate, [])
                }
            }
            switch fate {
            case .dies, .diesUnanswered: end()
            default: tell(frames)
            }
            if call == .stop, case .answered = fate { end() }
        }
        state.withLock { state in
            state.connections[name] = nil
            state.watchers.remove(name)
            state.attached = state.attached.filter { $0.value != name }
        }
        connection.shutdown()
        connections.add(false)
    }
}

extension FakeDaemon.State {
    fileprivate mutating func add(_ submission: Submission, _ identifier: String) -> BackgroundStatus {
        if let known = tasks.first(where: { $0.id == submission.id }) { return known }
        var status = BackgroundStatus(submission.id, identifier, submission.request, at: 1)
        sequence += 1
        status.sequence = sequence
        tasks.append(status)
        return status
    }

    fileprivate mutating func change(
        _ id: BackgroundTask.ID, _ change: (inout BackgroundStatus) -> Void
    ) -> [(FrameConnection, DaemonFrame)] {
        guard let index = tasks.firstIndex(where: { $0.id == id }) else { return [] }
        change(&tasks[index])
        sequence += 1
        tasks[index].sequence = sequence
        return frames(.status(tasks[index]), tasks[index].identifier)
    }

    fileprivate func frames(_ event: DaemonEvent, _ identifier: String) -> [(FrameConnection, DaemonFrame)] {
        Set(watchers.union([attached[identifier]].compactMap { $0 })).compactMap { connections[$0] }
            .map { ($0, .event(event)) }
    }

    fileprivate mutating func answer(
        _ call: DaemonCall, _ name: Int, _ connection: FrameConnection
    ) -> (DaemonAnswer, [(FrameConnection, DaemonFrame)]) {
        func replay(_ statuses: [BackgroundStatus]) -> [(FrameConnection, DaemonFrame)] {
            (statuses.map { .status($0) } + [.caughtUp]).map { (connection, .event($0)) }
        }
        switch call {
        case .hello: return (.hello(version: DaemonFrame.version, process: getpid()), [])
        case .attach(let identifier, _):
            if attached[identifier] != nil { return (.refused(code: "identifierInUse", message: "in use"), []) }
            attached[identifier] = name
            return (.done, replay(tasks.filter { $0.identifier == identifier }))
        case .submit(let identifier, let submissions):
            let statuses = submissions.map { add($0, identifier) }
            return (.tasks(statuses), statuses.flatMap { frames(.status($0), identifier) })
        case .list: return (.tasks(tasks), [])
        case .change(let ids, let change):
            guard ids.allSatisfy({ id in tasks.contains { $0.id == id } }) else {
                return (.refused(code: "unknownTask", message: "unknown"), [])
            }
            var events: [(FrameConnection, DaemonFrame)] = []
            for id in ids {
                events += self.change(id) { status in
                    switch change {
                    case .pause: status.state = .paused
                    case .resume: status.state = .waiting
                    case .cancel: status.state = .failed
                    case .prioritize(let priority): status.priority = priority
                    case .forget: break
                    }
                }
            }
            let statuses = tasks.filter { ids.contains($0.id) }
            if change == .forget { tasks.removeAll { ids.contains($0.id) } }
            return (.tasks(change == .forget ? [] : statuses), events)
        case .acknowledge(let ends):
            let gone = tasks.filter { task in
                task.isFinished && ends.contains { $0.id == task.id && task.sequence <= $0.sequence }
            }
            tasks.removeAll { gone.contains($0) }
            return (.done, gone.flatMap { frames(.gone($0.id), $0.identifier) })
        case .watch:
            watchers.insert(name)
            return (.done, replay(tasks))
        case .schedule: return (.schedule(schedule), [])
        case .setSchedule(let new):
            schedule = new
            return (.done, [])
        case .relay: return (.refused(code: "other", message: "not here"), [])
        case .stop: return (.done, [])
        }
    }
}

/// True once.
final class Once: Sendable {
    private let isDone = Mutex(false)

    func first() -> Bool {
        isDone.withLock { isDone in
            defer { isDone = true }
            return !isDone
        }
    }
}

extension FrameConnection {
    /// Sends a short frame; blocks.
    func send(_ frame: DaemonFrame) throws(TransferError) {
        let bytes = frame.onWire
        guard send(some: bytes[...], isWaiting: true) == bytes.count else {
            throw TransferError(.connectionLost, "the frame was not sent")
        }
    }
}

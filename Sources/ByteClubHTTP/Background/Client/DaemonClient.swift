import Synchronization

/// One connection to a daemon, which is made again when the daemon ends: see ``DaemonExchange``.
///
/// A thread of its own reads and notifies. Dropping the client ends the connection.
final class DaemonClient: Sendable {
    enum Notice: Sendable {
        /// The events of a new connection follow, the status of each task first.
        case began
        case event(DaemonEvent)
        /// No further notice follows.
        case ended(TransferError)
    }

    typealias Outcome = Result<DaemonAnswer, TransferError>

    private struct State {
        var exchange: DaemonExchange
        var connection: FrameConnection?
        var sender: CallSender?
        var completions: [UInt64: @Sendable (Outcome) -> Void] = [:]
        var lastNumber = DaemonExchange.firstNumber
        /// The calls of ``DaemonClient/close()`` that wait until no thread reads.
        var closers: [Waiter<Void>] = []
    }

    /// How long ``close()`` waits for the daemon.
    private static let farewell = Duration.seconds(1)

    private let connector: DaemonConnector
    private let notify: @Sendable (DaemonClient, Notice) -> Void
    private let state: Mutex<State>

    /// A client without a connection.
    ///
    /// The reading thread calls `notify` with this client and each notice, one at a time; it must not block, and must not
    /// retain the client.
    init(
        _ connector: DaemonConnector, role: DaemonCall? = nil,
        notify: @escaping @Sendable (DaemonClient, Notice) -> Void = { _, _ in }
    ) {
        self.connector = connector
        self.notify = notify
        state = Mutex(State(exchange: DaemonExchange(role: role, isStarting: connector.isStarting)))
    }

    deinit { state.withLock { $0.connection }?.shutdown() }

    /// Connects, and returns when the daemon accepts calls and has granted the role.
    func open() async throws(TransferError) { _ = try await result { .open($0) }.get() }

    /// Calls the daemon, again over a new connection if the old one is lost.
    ///
    /// The reading thread calls `merge` with the answer, before any later notice.
    ///
    /// - Throws: The daemon's refusal, ``TransferError/Code/daemonUnavailable``,
    ///   ``TransferError/Code/timedOut`` when it is silent for too long, or ``TransferError/Code/cancelled`` when the
    ///   Swift task is cancelled; the daemon may have carried out the call, or may still do so.
    @discardableResult
    func call(
        _ call: DaemonCall, merge: @escaping @Sendable (DaemonAnswer) -> Void = { _ in }
    ) async throws(TransferError) -> DaemonAnswer {
        try await result({ .call($0, call) }, merge: merge).get()
    }

    /// Calls the daemon without waiting for the answer.
    func post(_ call: DaemonCall, completion: @escaping @Sendable (Outcome) -> Void) {
        let number = nextNumber()
        handle(.call(number, call)) { $0.completions[number] = completion }
    }

    /// Ends the connection, and returns when the daemon has closed its side; after a second at the latest.
    func close() async {
        handle(.close)
        let connection = state.withLock { $0.connection }
        let limit = Task.detached {
            try await Task.sleep(for: Self.farewell)
            connection?.shutdown()
        }
        await Waiter<Void>.value { waiter in
            state.withLock { state in
                guard state.connection != nil else { return () }
                state.closers.append(waiter)
                return nil
            }
        }
        limit.cancel()
    }

    private func result(
        _ event: (UInt64) -> DaemonExchange.Event, merge: @escaping @Sendable (DaemonAnswer) -> Void = { _ in }
    ) async -> Outcome {
        let number = nextNumber()
        let event = event(number)
        return await withTaskCancellationHandler {
            await Waiter<Outcome>.value { waiter in
                handle(event) { state in
                    state.completions[number] = { outcome in
                        if case .success(let answer) = outcome { merge(answer) }
                        waiter.resume(outcome)
                    }
                }
                // The handler below may have run before the call was registered.
                if Task.isCancelled { handle(.cancel(number)) }
                return nil
            }
        } onCancel: {
            handle(.cancel(number))
        }
    }

    private func nextNumber() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    // MARK: - Effects

    /// Hands an event to the exchange and performs its steps, after a change of the state under the same lock.
    ///
    /// An event about a connection is ignored unless that is the current one.
    private func handle(
        _ event: DaemonExchange.Event, from source: FrameConnection? = nil, prepare: (inout State) -> Void = { _ in }
    ) {
        typealias Work = (step: DaemonExchange.Step, completion: (@Sendable (Outcome) -> Void)?)
        let (work, connection, sender) = state.withLock { state -> ([Work], FrameConnection?, CallSender?) in
            if let source, state.connection !== source { return ([], nil, nil) }
            prepare(&state)
            let work = state.exchange.handle(event, at: .fine).map { step -> Work in
                // Under this lock, so that calls are sent in the exchange's order.
                if case .send(let number, let call) = step { state.sender?.add(number, call) }
                if case .answer(let number, _) = step { return (step, state.completions.removeValue(forKey: number)) }
                return (step, nil)
            }
            return (work, state.connection, state.sender)
        }
        sender?.flush()
        for (step, completion) in work { perform(step, on: connection, completion) }
    }

    private func perform(
        _ step: DaemonExchange.Step, on connection: FrameConnection?, _ completion: (@Sendable (Outcome) -> Void)?
    ) {
        switch step {
        case .connect(let delay): connect(after: delay)
        case .send: break
        case .answer(_, let outcome): completion?(outcome)
        case .begin: notify(self, .began)
        case .tell(let event): notify(self, .event(event))
        case .hangUp: connection?.shutdown()
        case .finish: connection?.finishSending()
        case .tick: tick()
        case .end(let error): notify(self, .ended(error))
        }
    }

    private func connect(after delay: Duration) {
        Task.detached { [weak self, connector] in
            if delay > .zero { await connector.pause(delay) }
            guard self != nil else { return }
            do throws(TransferError) {
                let connection = try await connector.connect()
                try self?.adopt(connection)
            } catch {
                self?.handle(.unreachable(error))
            }
        }
    }

    private func tick() {
        Task.detached { [weak self, connector] in
            await connector.tick()
            self?.handle(.tick(connector.service.silence))
        }
    }

    private func adopt(_ connection: FrameConnection) throws(TransferError) {
        try OwnThread.start { [weak self, connector] in
            let error = Self.read(connection, connector) { self }
            connection.shutdown()
            self?.lose(connection, error)
        }
    }

    private static func read(
        _ connection: FrameConnection, _ connector: DaemonConnector, _ client: () -> DaemonClient?
    ) -> TransferError? {
        client()?.begin(connection)
        guard connection.waitForBytes(seconds: connector.patience) else {
            let error = connector.service.silence
            client()?.handle(.unreachable(error), from: connection)
            return error
        }
        while true {
            do {
                guard let frame = try connection.receive() else { return nil }
                guard let client = client() else { return nil }
                client.handle(.received(frame), from: connection)
            } catch {
                return error
            }
        }
    }

    private func begin(_ connection: FrameConnection) {
        let sender = CallSender(connection) { [weak self] number, error in self?.handle(.unsendable(number, error)) }
        handle(.connected) { ($0.connection, $0.sender) = (connection, sender) }
    }

    private func lose(_ connection: FrameConnection, _ error: TransferError?) {
        handle(.lost(error), from: connection) { ($0.connection, $0.sender) = (nil, nil) }
        let closers = state.withLock { state in
            defer { if state.connection == nil { state.closers = [] } }
            return state.connection == nil ? state.closers : []
        }
        for closer in closers { closer.resume() }
    }
}

/// Sends calls over one connection, in the order they were added.
///
/// A flush sends what the socket's buffer holds and leaves the rest to a thread, so that it never waits for the daemon to
/// read. That thread ends when the connection is shut down.
final class CallSender: Sendable {
    private struct State {
        var waiting: FIFO<DaemonFrame> = .init()
        /// Whether one thread is sending; all others leave their frames to it.
        var isSending = false
        var isOver = false
    }

    private let connection: FrameConnection
    private let onTooLong: @Sendable (UInt64, TransferError) -> Void
    private let state = Mutex(State())

    /// The only sender of a connection, whose reader notices when it is lost.
    ///
    /// It skips a call that is too long to be sent, and calls `onTooLong` with its number.
    init(_ connection: FrameConnection, onTooLong: @escaping @Sendable (UInt64, TransferError) -> Void) {
        self.connection = connection
        self.onTooLong = onTooLong
    }

    /// Appends a call to those that wait; takes microseconds.
    func add(_ number: UInt64, _ call: DaemonCall) {
        state.withLock { state in
            if !state.isOver { state.waiting.append(.call(number: number, call)) }
        }
    }

    /// Sends the calls that wait, without blocking.
    func flush() {
        guard begin() else { return }
        send(rest: [], isWaiting: false)
    }

    private func begin() -> Bool {
        state.withLock { state in
            guard !state.isSending, !state.waiting.isEmpty else { return false }
            state.isSending = true
            return true
        }
    }

    /// The next frame; nil ends this thread's turn to send.
    private func next() -> DaemonFrame? {
        state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.isSending = false }
            return next
        }
    }

    /// Sends the rest of a frame, then all frames that wait; only during this thread's turn.
    private func send(rest: ArraySlice<UInt8>, isWaiting: Bool) {
        var rest = rest
        while true {
            while !rest.isEmpty {
                guard let count = connection.send(some: rest, isWaiting: isWaiting) else { return end() }
                rest = rest.dropFirst(count)
                if !rest.isEmpty, !isWaiting { return wait(toSend: rest) }
            }
            guard let frame = next() else { return }
            let bytes = frame.onWire
            if bytes.count - 4 <= DaemonFrame.limit {
                rest = bytes[...]
            } else if case .call(let number, _) = frame {
                onTooLong(number, FrameConnection.tooLong(bytes.count - 4))
            }
        }
    }

    private func wait(toSend rest: ArraySlice<UInt8>) {
        do { try OwnThread.start { self.send(rest: rest, isWaiting: true) } } catch {
            end()
            // The reader notices, and the client repeats the calls over a new connection.
            connection.shutdown()
        }
    }

    private func end() { state.withLock { $0 = State(isOver: true) } }
}

/// Connects to a service's daemon; tests replace the connection and the clock.
struct DaemonConnector: Sendable {
    let service: BackgroundService
    /// Whether to start a daemon if none runs.
    var isStarting: Bool
    /// How long the daemon may take to greet, in seconds.
    var patience = Self.patience
    /// Starts the daemon if none runs and that is allowed, and connects.
    var launch: @Sendable (BackgroundService, _ isStarting: Bool) async throws(TransferError) -> FrameConnection
    var pause: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    /// Sleeps for one tick of the ``SilenceMeter``.
    var tick: @Sendable () async -> Void = { try? await Task.sleep(for: SilenceMeter.tickTime) }

    /// Longer than a daemon needs to end; meanwhile it greets no client.
    static let patience = 15

    init(
        _ service: BackgroundService, isStarting: Bool = true,
        launch: @escaping @Sendable (BackgroundService, Bool) async throws(TransferError) -> FrameConnection =
            DaemonLauncher.connect
    ) {
        self.service = service
        self.isStarting = isStarting
        self.launch = launch
    }

    func connect() async throws(TransferError) -> FrameConnection { try await launch(service, isStarting) }

    /// The same connector, which starts no daemon.
    var withoutStarting: DaemonConnector {
        var other = self
        other.isStarting = false
        return other
    }

    /// Whether a daemon runs, without connecting: that would make systemd start one.
    var isRunning: Bool { DaemonLock.isHeld(service.lockPath) }
}

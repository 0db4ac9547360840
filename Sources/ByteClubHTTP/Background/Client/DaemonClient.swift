import Glibc
import Synchronization

/// One connection to a daemon, made again when the daemon goes: see ``DaemonExchange``.
///
/// A thread of its own reads, and tells what it read. Dropping the client ends the connection.
final class DaemonClient: Sendable {
    enum Notice: Sendable {
        /// Events of a new connection follow, which begin with how all stands.
        case began
        case event(DaemonEvent)
        /// Nothing follows.
        case ended(TransferError)
    }

    typealias Outcome = Result<DaemonAnswer, TransferError>

    private struct State {
        var exchange: DaemonExchange
        var connection: FrameConnection?
        /// Sends over the connection.
        var sender: CallSender?
        var completions: [UInt64: @Sendable (Outcome) -> Void] = [:]
        var lastNumber = DaemonExchange.firstNumber
        /// Who waits until no thread reads.
        var closers: [Waiter<Void>] = []
    }

    /// How long a daemon may take to notice that the client is gone.
    private static let farewell = Duration.seconds(1)

    private let connector: DaemonConnector
    private let notify: @Sendable (DaemonClient, Notice) -> Void
    private let state: Mutex<State>

    /// A client without a connection.
    ///
    /// - Parameters:
    ///   - connector: How the daemon is reached.
    ///   - role: See ``DaemonExchange/init(role:isStarting:)``.
    ///   - notify: Called one at a time with this client and what the daemon tells, by the thread that reads; must not
    ///     block, nor keep the client.
    init(
        _ connector: DaemonConnector, role: DaemonCall? = nil,
        notify: @escaping @Sendable (DaemonClient, Notice) -> Void = { _, _ in }
    ) {
        self.connector = connector
        self.notify = notify
        state = Mutex(State(exchange: DaemonExchange(role: role, isStarting: connector.isStarting)))
    }

    deinit { state.withLock { $0.connection }?.shutdown() }

    /// Connects, and returns when calls are answered and the role is taken.
    func open() async throws(TransferError) { _ = try await result { .open($0) }.get() }

    /// Asks the daemon, as often as it takes.
    ///
    /// - Parameters:
    ///   - call: What is asked.
    ///   - merge: Called with the answer by the thread that reads, before anything that the daemon tells later.
    /// - Returns: The answer; no refusal.
    /// - Throws: What the daemon refused with, ``TransferError/Code/daemonUnavailable``,
    ///   ``TransferError/Code/timedOut`` when it is silent for too long, or ``TransferError/Code/cancelled`` when the
    ///   Swift task is cancelled; the daemon may have done it then, or may yet do it.
    @discardableResult
    func call(
        _ call: DaemonCall, merge: @escaping @Sendable (DaemonAnswer) -> Void = { _ in }
    ) async throws(TransferError) -> DaemonAnswer {
        try await result({ .call($0, call) }, merge: merge).get()
    }

    /// Asks the daemon, and does not wait for the answer.
    func post(_ call: DaemonCall, completion: @escaping @Sendable (Outcome) -> Void) {
        let number = nextNumber()
        handle(.call(number, call)) { $0.completions[number] = completion }
    }

    /// Ends the connection, and returns when the daemon has noticed; at the latest after a second.
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
                // The handler below may have been called before.
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

    /// Tells the exchange, and does what it says.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - source: The connection it happened on; ignored when that is not the present one any more.
    ///   - prepare: Changes the state before, under the same lock.
    private func handle(
        _ event: DaemonExchange.Event, from source: FrameConnection? = nil, prepare: (inout State) -> Void = { _ in }
    ) {
        typealias Work = (step: DaemonExchange.Step, completion: (@Sendable (Outcome) -> Void)?)
        let (work, connection, sender) = state.withLock { state -> ([Work], FrameConnection?, CallSender?) in
            if let source, state.connection !== source { return ([], nil, nil) }
            prepare(&state)
            let work = state.exchange.handle(event, at: .fine).map { step -> Work in
                // Under this lock, so that calls are sent in the order the exchange says.
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
        let thread = try SystemThread.start { [weak self, connector] in
            let error = Self.read(connection, connector) { self }
            connection.shutdown()
            self?.lose(connection, error)
        }
        pthread_detach(thread)
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

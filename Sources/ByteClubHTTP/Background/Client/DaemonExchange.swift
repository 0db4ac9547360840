/// Which calls to a daemon are outstanding, and what happens to them when the daemon ends; pure: each event returns steps.
///
/// A connection begins with `hello`, then the role if there is one (`attach` or `watch`), then all calls without an
/// answer. So daemons may receive a call more than once, which every call allows.
struct DaemonExchange: Sendable {
    indirect enum Event: Sendable {
        /// A caller waits for a connection that is ready.
        case open(UInt64)
        case call(UInt64, DaemonCall)
        /// The caller no longer waits for this answer.
        case cancel(UInt64)
        /// The connection of ``Step/connect(after:)`` is made.
        case connected
        /// The call is too long to be sent.
        case unsendable(UInt64, TransferError)
        case received(DaemonFrame)
        /// The connection has ended, with the reason if there is one.
        case lost(TransferError?)
        /// The connection cannot be made, or the daemon does not greet.
        case unreachable(TransferError)
        /// The time of a ``Step/tick`` has passed; with the error for a daemon that does not answer.
        case tick(TransferError)
        case close
    }

    indirect enum Step: Sendable {
        case connect(after: Duration)
        case send(UInt64, DaemonCall)
        case answer(UInt64, Result<DaemonAnswer, TransferError>)
        /// The events of a new connection follow, the status of each task first.
        case begin
        case tell(DaemonEvent)
        /// Close the connection.
        case hangUp
        /// Send no more, which makes the daemon close the connection.
        case finish
        /// Send ``Event/tick(_:)`` after ``SilenceMeter/tickTime``.
        case tick
        /// No further step follows.
        case end(TransferError)
    }

    private enum Phase {
        case resting, connecting, greeting, opening, ready
        case ended(TransferError)
    }

    fileprivate struct Outstanding {
        let call: DaemonCall
        var sends = 0
        /// The first part of an answer that is longer than one frame.
        var firstTasks: [BackgroundStatus] = []
    }

    static let helloNumber: UInt64 = 1
    static let roleNumber: UInt64 = 2
    /// The least number of a caller's call.
    static let firstNumber: UInt64 = 3

    /// The delay before each attempt to connect again; the last one is used for all further attempts.
    static let delays: [Duration] = [0, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 30000].map { .milliseconds($0) }
    /// The exchange gives up after so many attempts in a row without an answer.
    static let tries = 7
    /// A daemon that was ready for so long is started again without a delay: it did not fail at its start.
    static let healthyTime = Duration.seconds(5)
    /// How often to request a role that another connection has, since that one may be about to end.
    static let roleTries = 10
    static let roleDelay = Duration.milliseconds(50)

    /// The first call on each connection.
    private let role: DaemonCall?
    /// Whether a daemon is started if none runs.
    private let isStarting: Bool
    private var phase = Phase.resting
    private var openings: [UInt64] = []
    private var outstanding: [UInt64: Outstanding] = [:]
    private var wasReady = false
    /// Whether the daemon has reported all tasks on this connection.
    private var isCaughtUp = false
    /// Connections in a row without an answer.
    private var failures = 0
    /// Connections in a row that were lost soon, with or without an answer.
    private var losses = 0
    /// When the current or last connection became ready.
    private var readySince: Moment?
    private var refusals = 0
    private var silence = SilenceMeter()

    /// An exchange without a connection; one without a role makes a connection only when a call waits.
    init(role: DaemonCall?, isStarting: Bool) {
        self.role = role
        self.isStarting = isStarting
    }

    /// Handles an event, and returns the steps to perform, in this order.
    mutating func handle(_ event: Event, at now: Moment) -> [Step] {
        let steps = react(to: event, at: now)
        let isHeard = if case .received = event { true } else { false }
        return steps + (silence.note(isAwaiting: isAwaiting, isHeard: isHeard) ? [.tick] : [])
    }

    /// Whether the daemon's silence counts; ``DaemonConnector/patience`` limits the time until it greets.
    private var isAwaiting: Bool {
        switch phase {
        case .opening: true
        case .ready: !outstanding.isEmpty || role != nil && !isCaughtUp
        case .resting, .connecting, .greeting, .ended: false
        }
    }

    private mutating func react(to event: Event, at now: Moment) -> [Step] {
        switch event {
        case .open(let number): return open(number)
        case .call(let number, let call): return ask(number, call)
        case .cancel(let number): return cancel(number)
        case .connected:
            guard case .connecting = phase else { return [.hangUp] }
            phase = .greeting
            isCaughtUp = false
            return [.begin, .send(Self.helloNumber, .hello(version: DaemonFrame.version))]
        case .received(.answer(let number, let answer)): return take(number, answer, at: now)
        case .unsendable(let number, let error):
            return outstanding.removeValue(forKey: number) == nil ? [] : [.answer(number, .failure(error))]
        case .received(.event(let event)): return tell(event)
        case .received(.call): return []
        case .lost(let error): return lose(error, at: now)
        case .unreachable(let error):
            switch phase {
            case .connecting, .greeting: break
            case .resting, .opening, .ready, .ended: return []
            }
            return wasReady ? retry(error) : giveUp(error)
        case .tick(let error):
            let tasks = outstanding.values.reduce(0) { $0 + $1.call.taskCount }
            return silence.tick(tasks: tasks) ? beUnanswered(error) : []
        case .close:
            if case .ended = phase { return [] }
            let error = TransferError(.sessionInvalid, "the session with the daemon is closed")
            phase = .ended(error)
            return failAll(error) + [.finish, .end(error)]
        }
    }

    private mutating func open(_ number: UInt64) -> [Step] {
        switch phase {
        case .ready: return [.answer(number, .success(.done))]
        case .ended(let error): return [.answer(number, .failure(error))]
        case .connecting, .greeting, .opening:
            openings.append(number)
            return []
        case .resting:
            openings.append(number)
            phase = .connecting
            return [.connect(after: .zero)]
        }
    }

    private mutating func ask(_ number: UInt64, _ call: DaemonCall) -> [Step] {
        if case .ended(let error) = phase { return [.answer(number, .failure(error))] }
        outstanding[number] = Outstanding(call: call)
        switch phase {
        case .ready: return send(number)
        case .resting:
            phase = .connecting
            return [.connect(after: .zero)]
        default: return []
        }
    }

    private mutating func send(_ number: UInt64) -> [Step] {
        guard let call = outstanding[number]?.call else { return [] }
        outstanding[number]?.sends += 1
        outstanding[number]?.firstTasks = []
        return [.send(number, call)]
    }

    private mutating func cancel(_ number: UInt64) -> [Step] {
        let wasOpening = openings.contains(number)
        openings.removeAll { $0 == number }
        guard outstanding.removeValue(forKey: number) != nil || wasOpening else { return [] }
        return [.answer(number, .failure(TransferError(.cancelled, "cancelled")))]
    }

    private mutating func take(_ number: UInt64, _ answer: DaemonAnswer, at now: Moment) -> [Step] {
        switch (phase, number) {
        case (.greeting, Self.helloNumber):
            if case .hello(DaemonFrame.version, _) = answer {
                guard let role else { return getReady(at: now) }
                phase = .opening
                return [.send(Self.roleNumber, role)]
            }
            return [.hangUp] + giveUp(TransferError(.daemonUnavailable, Self.strange(answer)))
        case (.opening, Self.roleNumber):
            guard let error = answer.refusal else { return getReady(at: now) }
            guard error.code == .identifierInUse, refusals + 1 < Self.roleTries else {
                return [.hangUp] + giveUp(error)
            }
            refusals += 1
            phase = .connecting
            return [.hangUp, .connect(after: Self.roleDelay)]
        case (.ready, _):
            guard let entry = outstanding[number] else { return [] }
            failures = 0
            if case .firstTasks(let tasks) = answer {
                outstanding[number]?.firstTasks += tasks
                return []
            }
            if case .stop = entry.call, answer.refusal == nil {
                // The daemon has stopped only when the connection ends.
                return []
            }
            outstanding[number] = nil
            return [.answer(number, entry.result(answer))]
        default: return []
        }
    }

    private mutating func tell(_ event: DaemonEvent) -> [Step] {
        switch phase {
        case .opening, .ready: break
        case .resting, .connecting, .greeting, .ended: return []
        }
        if event == .caughtUp {
            isCaughtUp = true
        } else if isCaughtUp, outstanding.isEmpty {
            failures = 0
        }
        return [.tell(event)]
    }

    private mutating func getReady(at now: Moment) -> [Step] {
        phase = .ready
        readySince = now
        wasReady = true
        refusals = 0
        defer { openings = [] }
        return openings.map { .answer($0, .success(.done)) } + outstanding.keys.sorted().flatMap { send($0) }
    }

    private mutating func lose(_ error: TransferError?, at now: Moment) -> [Step] {
        var steps: [Step] = []
        if let since = readySince, since.duration(to: now) >= Self.healthyTime { losses = 0 }
        readySince = nil
        switch phase {
        case .resting, .connecting, .ended: return []
        case .greeting, .opening: break
        case .ready:
            for (number, entry) in outstanding where entry.call == .stop && entry.sends > 0 {
                outstanding[number] = nil
                steps.append(.answer(number, .success(.done)))
            }
            if outstanding.isEmpty {
                guard role != nil else {
                    phase = .resting
                    return steps
                }
                // A daemon that ends while idle is no reason to give up.
                failures = min(failures, Self.tries / 2)
            }
        }
        return steps + retry(error ?? TransferError(.daemonUnavailable, "the daemon ended without an answer"))
    }

    /// Fails the calls to a daemon that does not answer, which may still carry them out.
    ///
    /// The connection stays for later events, unless the daemon has not yet reported all tasks.
    private mutating func beUnanswered(_ error: TransferError) -> [Step] {
        if case .opening = phase { return [.hangUp] + (wasReady ? retry(error) : giveUp(error)) }
        let steps = failAll(TransferError(.timedOut, error.message))
        return role == nil || isCaughtUp ? steps : steps + [.hangUp] + retry(error)
    }

    private mutating func retry(_ error: TransferError) -> [Step] {
        let delay = min(losses, Self.delays.count - 1)
        losses += 1
        failures += 1
        guard failures <= (isStarting ? Self.tries : 2) else {
            return giveUp(
                error.code == .daemonUnavailable
                    ? error : TransferError(.daemonUnavailable, "the daemon cannot be used: \(error.message)"))
        }
        phase = .connecting
        return [.connect(after: Self.delays[delay])]
    }

    /// Fails all calls; later ones connect again, unless a role was lost.
    private mutating func giveUp(_ error: TransferError) -> [Step] {
        failures = 0
        losses = 0
        phase = role == nil ? .resting : .ended(error)
        return failAll(error) + (role == nil ? [] : [.end(error)])
    }

    private mutating func failAll(_ error: TransferError) -> [Step] {
        defer {
            openings = []
            outstanding = [:]
        }
        return (openings + outstanding.keys.sorted()).map { .answer($0, .failure(error)) }
    }

    private static func strange(_ answer: DaemonAnswer) -> String {
        switch answer {
        case .hello(let version, let process):
            "the daemon that runs (process \(process)) speaks version \(version) and this program version "
                + "\(DaemonFrame.version); end it, so that the present one is started"
        case .refused(_, let message): message
        default: "the daemon's answer to the greeting is invalid"
        }
    }
}

extension DaemonExchange.Outstanding {
    /// The outcome of a call.
    fileprivate func result(_ answer: DaemonAnswer) -> Result<DaemonAnswer, TransferError> {
        if case .tasks(let rest) = answer { return .success(.tasks(firstTasks + rest)) }
        guard let error = answer.refusal else { return .success(answer) }
        // The first call has forgotten the task, and its answer was lost.
        if case .change(_, .forget) = call, sends > 1, error.code == .unknownTask { return .success(.tasks([])) }
        return .failure(error)
    }
}

extension DaemonCall {
    /// How many tasks the call is about.
    fileprivate var taskCount: Int {
        switch self {
        case .submit(_, let submissions): submissions.count
        case .change(let ids, _): ids.count
        case .acknowledge(let ends): ends.count
        case .hello, .attach, .list, .watch, .schedule, .setSchedule, .relay, .stop: 0
        }
    }
}

extension DaemonAnswer {
    /// The refusal of a call.
    static func refused(_ code: TransferError.Code, _ message: String) -> DaemonAnswer {
        .refused(code: code.rawValue, message: message)
    }

    /// The error of a refusal; nil for any other answer.
    var refusal: TransferError? {
        guard case .refused(let code, let message) = self else { return nil }
        return TransferError(TransferError.Code(rawValue: code) ?? .other, message)
    }
}

/// Whether a daemon has been silent for too long while a call waits; pure.
///
/// It counts ticks of a timer rather than time, so that at most one passes while this program is suspended. It asks for
/// ticks only while a call waits.
struct SilenceMeter: Sendable {
    static let tickTime = Duration.seconds(5)
    /// How many ticks a daemon may be silent, two minutes: it answers no client while it writes the tasks of another
    /// client's call to disk, which may be thousands.
    static let ticks = 24
    /// A call about so many tasks allows one tick more, since the daemon writes each to disk before it answers.
    static let tasksPerTick = 50

    private var isAwaiting = false
    private var isTicking = false
    private var silentTicks = 0

    /// Notes after an event whether a call waits now, and whether the event was a message of the daemon.
    ///
    /// - Returns: Whether to start the timer for one tick.
    mutating func note(isAwaiting: Bool, isHeard: Bool) -> Bool {
        if isHeard || !self.isAwaiting { silentTicks = 0 }
        self.isAwaiting = isAwaiting
        guard isAwaiting, !isTicking else { return false }
        isTicking = true
        return true
    }

    /// Counts a tick, and returns whether the daemon has been silent for too long, for calls about so many tasks.
    ///
    /// Call ``note(isAwaiting:isHeard:)`` afterwards.
    mutating func tick(tasks: Int) -> Bool {
        isTicking = false
        guard isAwaiting else { return false }
        silentTicks += 1
        // The first tick began before the silence did.
        guard silentTicks > 1 + Self.ticks + tasks / Self.tasksPerTick else { return false }
        silentTicks = 0
        return true
    }
}

import Glibc
import HTTPTypes

@testable import ByteClubHTTP

/// Changes the conditions of one session's network at moments that nobody planned, and sees that tasks wait for them.
struct ConditionsDriver {
    /// What a session's conditions are made of.
    struct Place {
        let bus: MeterBus
        let power: PowerFolder?

        /// A bus of its own in a folder, and now and then a battery; nil if there can be none.
        init?(in folder: String, _ ledger: Ledger, _ random: inout Seeded) {
            guard let bus = MeterBus(folder + "/bus", ledger, random.split()) else {
                ledger.violation("no bus at \(folder)/bus")
                return nil
            }
            self.bus = bus
            power = random.one(in: 2) ? PowerFolder(folder + "/power") : nil
        }
    }

    /// A task that is started while it must not send a request.
    private struct Held {
        let task: SessionTask
        let name: String
        let mayWait: Bool
        var isCancelled = false
    }

    let world: World
    let session: Session
    let home: ChaosServer
    let place: Place
    var random: Seeded

    /// Changes the conditions some times; in the end everything is allowed.
    mutating func run(until stop: () -> Bool) async {
        for _ in 0..<Int.random(in: 2...8, using: &random) where !stop() {
            if random.one(in: 3) { await holdBack() } else { await changeOften() }
            try? await Task.sleep(for: .milliseconds(Int.random(in: 0...300, using: &random)))
        }
        allowAll()
    }

    private func allowAll() {
        place.power?.set(isOnBattery: false)
        place.bus.change(to: .no, isCalm: true)
    }

    private mutating func changeOften() async {
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            place.bus.change(to: random.pick([.yes, .guessYes, .no, .guessNo, .unknown]), isCalm: random.one(in: 3))
            if random.one(in: 3) { place.power?.set(isOnBattery: random.one(in: 2)) }
            if random.one(in: 8) { place.bus.hangUp() }
            try? await Task.sleep(for: .microseconds(Int.random(in: 0...60_000, using: &random)))
        }
    }

    // MARK: - Holding back

    /// Starts tasks while the session knows that they must not use the network; they wait, or fail.
    ///
    /// Afterwards those go on that wait and were not cancelled.
    private mutating func holdBack() async {
        let isByBattery = place.power != nil && random.one(in: 3)
        if isByBattery { place.power?.set(isOnBattery: true) }
        // Every report after the bus has changed contains the battery.
        var isImposed = await impose(.yes, isForbidding: true)
        if isImposed, isByBattery { isImposed = await impose(.no, isForbidding: false) }
        guard isImposed else { return allowAll() }
        var all: [Held] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) { all.append(held(isByBattery: isByBattery)) }
        let start = ContinuousClock.now
        for held in all {
            world.ledger.forbid(held.name)
            held.task.resume()
        }
        try? await Task.sleep(for: .milliseconds(Int.random(in: 0...150, using: &random)))
        for index in all.indices {
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                all[index].isCancelled = true
                all[index].task.cancel()
            case 1:
                all[index].task.suspend()
                try? await Task.sleep(for: .milliseconds(5))
                all[index].task.resume()
            default: break
            }
        }
        for held in all where held.task.state == .completed { judge(held, await outcome(of: held.task), isOver: false) }
        for held in all where !held.isCancelled { world.ledger.allow(held.name) }
        place.power?.set(isOnBattery: false)
        let isKnown = await impose(.no, isForbidding: false)
        // If another had its turn long before their time was over, so had these.
        let isFollowed = isKnown ? await follow() && start.duration(to: .now) < .seconds(10) : false
        for held in all {
            let result = await world.watch.expect("a task that was held back") { await outcome(of: held.task) }
            judge(held, result, isOver: true)
            if case .failure(let error) = result, error.message.hasPrefix("no allowed network in time"), isFollowed {
                world.ledger.violation("a task still waits on a network that it may use: \(error)")
            }
            world.ledger.allow(held.name)
        }
        world.ledger.outcome("held", isByBattery ? "by the battery" : "by the network")
    }

    /// Judges how a task ended, before everything was allowed again or after.
    private func judge(_ held: Held, _ result: Result<TaskResult, TransferError>, isOver: Bool) {
        let metrics: TaskMetrics
        switch result {
        case .success(let result): metrics = result.metrics
        case .failure(let error):
            metrics = error.metrics
            if held.mayWait, error.code == .networkNotAllowed {
                world.ledger.violation("a task that waits for another network failed: \(error)")
            }
        }
        if !isOver || held.isCancelled, !metrics.attempts.isEmpty {
            world.ledger.violation("a task had an attempt on a network that it must not use: \(result)")
        }
        guard isOver else { return }
        switch result {
        case .success(let result): world.ledger.outcome("held", "\(result.response.status.code)")
        case .failure(let error): world.ledger.outcome("held", "\(error.code)")
        }
    }

    /// A task with a rule that forbids the network as it is.
    private mutating func held(isByBattery: Bool) -> Held {
        let name = world.newName("held")
        var options = TaskOptions()
        // The same for all, so that each has its turn before those that are started later.
        options.priority = .normal
        options.cachePolicy = .reload
        options.waitsForConnectivity = !random.one(in: 4)
        var mayWait = options.waitsForConnectivity == true
        switch isByBattery ? 0 : Int.random(in: 0..<4, using: &random) {
        case 0: (options.isDiscretionary, mayWait) = (true, true)
        case 1: options.allowsConstrained = false
        default: options.allowsMetered = false
        }
        // The session's own rule lets it wait, too.
        if session.inbox.configuration.isDiscretionary, options.isDiscretionary == nil {
            options.isDiscretionary = false
        }
        let method = random.pick([HTTPRequest.Method.get, .get, .put, .post])
        let path = method == .get ? "/file/\(Int.random(in: 0..<Contents.files, using: &random))" : "/sink/\(name)"
        var request = HTTPRequest(method: method, scheme: "http", authority: home.authority, path: path)
        request.headerFields[.held] = name
        let task =
            method == .get
            ? session.dataTask(request, options: options)
            : session.uploadTask(request, from: .bytes(Array(name.utf8)), options: options)
        return Held(task: task, name: name, mayWait: mayWait)
    }

    /// Whether a task with the same priority that was started later had its turn.
    private func follow() async -> Bool {
        var options = TaskOptions()
        options.priority = .normal
        options.retries = false
        options.cachePolicy = .reload
        let request = HTTPRequest(method: .head, scheme: "http", authority: home.authority, path: "/file/2")
        let task = session.dataTask(request, options: options)
        let result = await world.watch.expect("a task after others that were held back") {
            task.resume()
            return await outcome(of: task)
        }
        return switch result {
        case .success(let result): !result.metrics.attempts.isEmpty
        case .failure(let error): !error.metrics.attempts.isEmpty
        }
    }

    // MARK: - What the session knows

    /// Changes the cost, and returns once the session knows that; false if it has ended, or that takes too long.
    private func impose(_ cost: BusClient.Cost, isForbidding: Bool) async -> Bool {
        let change = place.bus.change(to: cost, isCalm: true)
        for _ in 0..<400 {
            // Then older conditions have reached the session before what follows, and only these come afterwards.
            let isAnswered = place.bus.hasAnswered(change)
            guard let isForbidden = await isForbidden(byLimit: isForbidding) else { return false }
            if isAnswered, isForbidden == isForbidding { return true }
            try? await Task.sleep(for: .milliseconds(5))
        }
        world.ledger.outcome("conditions", "learnt late")
        return false
    }

    /// Whether the session refuses a task that must not use constrained networks, or metered ones, which never reaches
    /// a server; nil if the session has ended, or is too busy.
    ///
    /// A network whose cost is `yes` is both; one whose cost was guessed before is metered only.
    private func isForbidden(byLimit isConstrained: Bool) async -> Bool? {
        var options = TaskOptions()
        (options.allowsMetered, options.allowsConstrained) = (isConstrained, !isConstrained)
        (options.isDiscretionary, options.waitsForConnectivity) = (false, false)
        (options.retries, options.usesCookies, options.cachePolicy) = (false, false, .reload)
        var request = HTTPRequest(method: .get, scheme: "http", authority: world.refusing, path: "/file/5")
        request.headerFields[.clubKey] = ""
        request.headerFields[.authorization] = ""
        let task = session.dataTask(request, options: options)
        let result = await world.watch.expect("a question about the conditions") {
            task.resume()
            return await outcome(of: task)
        }
        guard case .failure(let error) = result else {
            world.ledger.violation("where nobody listens, a server answered: \(result)")
            return nil
        }
        switch error.code {
        case .networkNotAllowed: return true
        case .cannotConnect: return false
        default: return nil
        }
    }
}

extension SessionConfiguration {
    /// Reads the conditions at a place, and perhaps restricts all tasks.
    mutating func obey(_ place: ConditionsDriver.Place, _ random: inout Seeded) {
        conditionsSource = place.bus.source(power: place.power?.path)
        if random.one(in: 4) { allowsMetered = false }
        if random.one(in: 4) { allowsConstrained = false }
        if random.one(in: 6) { isDiscretionary = true }
    }
}

extension TaskOptions {
    /// Restricts the task to some conditions, or frees it of its session's.
    mutating func restrict(_ random: inout Seeded) {
        if random.one(in: 2) { waitsForConnectivity = random.one(in: 2) }
        switch Int.random(in: 0..<5, using: &random) {
        case 0: (allowsMetered, allowsConstrained, isDiscretionary) = (true, true, false)
        case 1: isDiscretionary = true
        case 2: allowsConstrained = false
        default: allowsMetered = false
        }
    }
}

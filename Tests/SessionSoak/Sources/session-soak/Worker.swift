import Glibc
import HTTPTypes

@testable import ByteClubHTTP

/// Makes one task after another in a session, does to it what users do, and looks at what it brought.
struct Worker {
    let world: World
    let session: Session
    let home: ChaosServer
    /// Whether the session has the TLS server's certificate verified, and what it asks about it then.
    let isVerified: Bool
    let gatekeeper: Gatekeeper?
    /// Whether the session is cancelled while it is used.
    let isEndedMeanwhile: Bool
    var random: Seeded

    mutating func doSomething() async {
        switch Int.random(in: 0..<48, using: &random) {
        case 0..<6: await getData()
        case 6..<11: await download()
        case 11..<15: await readStream()
        case 15..<20: await upload(.put)
        case 20..<24: await upload(.post)
        case 24: await perform("head", task(.head, "/file/\(anyFile)"), file: nil)
        case 25: await perform("delete", task(.delete, "/sink/x"), file: nil)
        case 26: await cancelEarly()
        case 27: await goNowhere()
        case 28: await goToTLS()
        case 29: await sendNonsense()
        case 30, 31: await knockTogether()
        case 32, 33: await visitNeighbours()
        case 34: await goThroughTunnel()
        case 35, 36: await readPieces()
        case 37: await listTasks()
        case 38: await useShared()
        case 39: await sendMarked()
        case 40: await waitForNetwork()
        case 41, 42: await crowdAtTLS()
        default: await download()
        }
    }

    var anyFile: Int {
        mutating get { Int.random(in: 0..<Contents.files, using: &random) }
    }

    // MARK: - Requests

    mutating func request(_ method: HTTPRequest.Method, _ path: String, _ authority: String? = nil) -> HTTPRequest {
        var request = HTTPRequest(
            method: method, scheme: "http", authority: authority ?? home.authority, path: path)
        if random.one(in: 3) { request.headerFields[.authorization] = "Bearer secret-for-\(home.name)-own" }
        if random.one(in: 3) { request.headerFields[.clubKey] = "secret-for-\(home.name)-own" }
        return request
    }

    mutating func options() -> TaskOptions {
        var options = TaskOptions()
        options.priority = random.pick(SessionTask.Priority.allCases)
        if random.one(in: 6) { options.rateLimit = Int.random(in: 100_000...3_000_000, using: &random) }
        if random.one(in: 8) { options.redirects = random.pick([.ownOrigin, .none]) }
        if random.one(in: 8) { options.retries = false }
        if random.one(in: 12) { options.cachePolicy = random.pick([.reload, .storedElseLoad, .storedOnly]) }
        if random.one(in: 12) { options.maximumResponseBytes = 20_000 }
        if random.one(in: 12) { options.disposition = { $0.status.code % 3 == 0 ? .cancel : .allow } }
        if random.one(in: 12) { options.usesCookies = false }
        if random.one(in: 16) { options.serviceType = random.pick(ServiceType.allCases) }
        if session.inbox.configuration.conditionsSource != nil, random.one(in: 3) { options.restrict(&random) }
        return options
    }

    mutating func task(_ method: HTTPRequest.Method, _ path: String) -> SessionTask {
        session.dataTask(request(method, path), options: options())
    }

    // MARK: - Running

    /// Runs a task with whatever happens to it, and counts how it ended.
    ///
    /// What a 200 brought into memory must be a version of the file, if one is named.
    @discardableResult
    mutating func perform(_ kind: String, _ task: SessionTask, file: Int?) async -> Result<TaskResult, TransferError> {
        let isDisturbed = random.one(in: 3)
        let isCancelled = isDisturbed && random.one(in: 3)
        let seeded = random.split()
        if random.one(in: 10) { _ = task.curlCommand }
        let result = await world.watch.expect("\(kind) \(task.request.path ?? "")") {
            task.resume()
            guard isDisturbed else { return await outcome(of: task) }
            return await withTaskGroup(of: Void.self) { group in
                group.addTask { await Self.disturb(task, isCancelled: isCancelled, seeded) }
                if task.id % 2 == 0 { group.addTask { for await _ in task.progressUpdates {} } }
                return await outcome(of: task)
            }
        }
        note(kind, result)
        if task.state != .completed { world.ledger.violation("a task with a result is \(task.state)") }
        if let file, case .success(let result) = result, result.response.status.code == 200, result.file == nil,
            // A redirect that left the method behind leads to file 2.
            let problem = Contents.objection(to: result.bytes, file: file)
        {
            world.ledger.violation("\(kind) of file \(file) from \(result.source): \(problem)")
        }
        return result
    }

    func note(_ kind: String, _ result: Result<TaskResult, TransferError>) {
        switch result {
        case .success(let result): world.ledger.outcome(kind, "\(result.response.status.code)")
        case .failure(let error):
            world.ledger.outcome(kind, "\(error.code)")
            if error.code == .networkNotAllowed {
                world.ledger.outcome("conditions", error.phase == .queue ? "refused" : "cut off")
            }
        }
    }

    /// Suspends, resumes, moves and asks, at moments that nobody planned; in the end the task runs, or is cancelled.
    static func disturb(_ task: SessionTask, isCancelled: Bool, _ random: Seeded) async {
        var random = random
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            if !random.one(in: 4) {
                try? await Task.sleep(for: .microseconds(Int.random(in: 0...60_000, using: &random)))
            }
            switch Int.random(in: 0..<5, using: &random) {
            case 0: task.suspend()
            case 1: task.resume()
            case 2: task.priority = random.pick(SessionTask.Priority.allCases)
            case 3: _ = task.progress
            default:
                task.suspend()
                task.suspend()
                task.resume()
            }
        }
        if isCancelled { task.cancel() }
        while task.state == .suspended { task.resume() }
    }

    // MARK: - Kinds of tasks

    private mutating func getData() async {
        let file = anyFile
        await perform("data", task(.get, guarded("/file/\(file)")), file: file)
    }

    /// Cancels before, at and after the start, with the call and with the Swift task.
    private mutating func cancelEarly() async {
        let file = anyFile
        let task = task(.get, "/file/\(file)")
        switch Int.random(in: 0..<4, using: &random) {
        case 0: task.cancel()
        case 1:
            task.resume()
            task.cancel()
        case 2:
            let (session, request, options) = (session, task.request, options())
            let pause = Int.random(in: 0...20_000, using: &random)
            await world.watch.expect("a cancelled Swift task") {
                let running = Task { try await session.data(for: request, options: options) }
                try? await Task.sleep(for: .microseconds(pause))
                running.cancel()
                _ = await running.result
            }
            task.cancel()
        default:
            task.suspend()
            task.resume()
            task.cancel()
            task.resume()
        }
        note("cancelled", await world.watch.expect("a cancelled task") { await outcome(of: task) })
    }

    /// Asks where nobody answers, or where the name takes its time.
    private mutating func goNowhere() async {
        let slow =
            "\(Int.random(in: 1...2_500, using: &random)).slow.invalid:\(home.authority.split(separator: ":")[1])"
        let (kind, authority) = random.pick([
            ("refused", world.refusing), ("silent", world.silent), ("slow name", slow), ("slow name", slow),
        ])
        // Another origin than home: it must get nothing of the session's that is meant for home.
        var request = HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/file/5")
        request.headerFields[.clubKey] = ""
        request.headerFields[.authorization] = ""
        var options = options()
        options.usesCookies = false
        let isForeign = kind == "slow name"
        guard !isForeign || home.name == "A" else { return }
        await perform(kind, session.dataTask(request, options: options), file: isForeign ? 5 : nil)
    }

    private mutating func sendNonsense() async {
        let (authority, path) = random.pick([
            (home.authority, "no slash"), ("user@\(home.authority)", "/"), ("a b", "/"), ("", "/"), ("x:99999", "/"),
        ])
        let task = session.dataTask(
            HTTPRequest(method: .get, scheme: "http", authority: authority, path: path), options: options())
        let result = await perform("nonsense", task, file: nil)
        guard case .failure(let error) = result, [.badRequest, .cancelled, .sessionInvalid].contains(error.code) else {
            return world.ledger.violation("nonsense was sent: \(result)")
        }
    }
}

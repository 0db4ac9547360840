import HTTPTypes

@testable import ByteClubHTTP

/// Tasks of a session that are not resumed while it lives.
struct IdleTasks {
    private let tasks: [SessionTask]
    private let world: World

    /// Makes up to three tasks, which the session must list.
    init(in session: Session, _ world: World, _ home: ChaosServer, _ random: inout Seeded) async {
        let request = HTTPRequest(method: .get, scheme: "http", authority: home.authority, path: "/file/2")
        let put = HTTPRequest(method: .put, scheme: "http", authority: home.authority, path: "/sink/never")
        var tasks: [SessionTask] = []
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: tasks.append(session.dataTask(request))
            case 1: tasks.append(session.uploadTask(put, from: .bytes([1])))
            default: tasks.append(session.downloadTask(request, to: world.newPath("never")))
            }
            // One without an owner has no end; it is listed while an event of it waits for a listener.
            if random.one(in: 3) { _ = session.dataTask(request) }
        }
        (self.tasks, self.world) = (tasks, world)
        let held = tasks.map(\.id)
        let listed = await session.tasks().map(\.id)
        if listed.filter(held.contains) != held {
            world.ledger.violation("the tasks \(held) are listed as \(listed)")
        }
    }

    /// Looks at how they ended after their session did, and ends those that have not.
    func end(isCancelled: Bool, _ random: inout Seeded) async {
        for task in tasks {
            var wanted = TransferError.Code.cancelled
            if isCancelled {
                if task.state != .completed { world.ledger.violation("a task outlives its session: \(task.state)") }
            } else if task.state != .suspended {
                world.ledger.violation("a task that was never resumed is \(task.state)")
            } else if random.one(in: 2) {
                wanted = .sessionInvalid
                task.resume()
            }
            // What ended stays so; the others end now, where the session still lives with its result.
            task.cancel()
            let result = await world.watch.expect("a task that was never resumed") { await outcome(of: task) }
            guard case .failure(let error) = result, [wanted, .cancelled].contains(error.code) else {
                world.ledger.violation("a task that was never resumed: \(result)")
                continue
            }
            world.ledger.outcome("never resumed", "\(error.code)")
        }
    }
}

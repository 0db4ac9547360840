import Glibc
import HTTPTypes

@testable import ByteClubHTTP

extension Worker {
    /// Fails unless the server's certificate is verified, and the session's evaluator accepts it.
    mutating func goToTLS() async {
        guard let tls = world.tls else { return }
        await visit(random.pick([tls.authority, tls.named]))
    }

    /// Several tasks at once, which one question is about; now and then nobody waits for its answer.
    mutating func crowdAtTLS() async {
        guard let tls = world.tls else { return }
        let place = random.pick([tls.authority, tls.named])
        if !random.one(in: 3) { await leave(place) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Int.random(in: 2...5, using: &random) {
                var other = self
                other.random = random.split()
                group.addTask { await other.visit(place) }
            }
        }
    }

    private mutating func visit(_ place: String) async {
        let target = random.one(in: 4) ? world.newPath("tls") : nil
        defer { if let target { unlink(target) } }
        let request = HTTPRequest(method: .get, scheme: "https", authority: place, path: "/")
        let task =
            target.map { session.downloadTask(request, to: $0, options: options()) }
            ?? session.dataTask(request, options: options())
        let result = await perform("tls", task, file: nil)
        judge(result, from: place)
        if case .failure = result, let target, readFile(target) != nil {
            world.ledger.violation("a download by TLS that failed left a file")
        }
    }

    /// Begins some tasks and cancels them all, perhaps while the evaluator is asked.
    private mutating func leave(_ place: String) async {
        let request = HTTPRequest(method: .get, scheme: "https", authority: place, path: "/")
        var tasks: [SessionTask] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            tasks.append(session.dataTask(request, options: options()))
        }
        for task in tasks { task.resume() }
        try? await Task.sleep(for: .milliseconds(Int.random(in: 0...60, using: &random)))
        for task in tasks { task.cancel() }
        for task in tasks {
            let result = await world.watch.expect("a task by TLS that was cancelled") { await outcome(of: task) }
            note("left", result)
            judge(result, from: place)
        }
    }

    private func judge(_ result: Result<TaskResult, TransferError>, from place: String) {
        gatekeeper?.judge(result, from: place)
        guard case .success(let result) = result, !isVerified else { return }
        world.ledger.violation("a server that is not verified answered \(result.response.status.code)")
    }
}

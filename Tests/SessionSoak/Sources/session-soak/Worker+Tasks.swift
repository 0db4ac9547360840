import Glibc
import HTTPTypes

@testable import ByteClubHTTP

extension Worker {
    /// Lists the session's tasks while some of them start, end and are cancelled.
    mutating func listTasks() async {
        let file = anyFile
        var tasks: [SessionTask] = []
        for _ in 0..<6 { tasks.append(task(.get, "/file/\(file)")) }
        let kept = tasks
        let ids = Set(kept.map(\.id))
        let seeded = random.split()
        let (world, session, mayMiss) = (world, session, isEndedMeanwhile)
        @Sendable func open() -> Set<UInt64> { ids.subtracting(kept.filter { $0.state == .completed }.map(\.id)) }
        await world.watch.expect("Session.tasks()") {
            let starting = Task {
                var random = seeded
                for task in kept {
                    task.resume()
                    if random.one(in: 3) { try? await Task.sleep(for: .milliseconds(3)) }
                    if random.one(in: 4) { task.cancel() }
                }
            }
            while true {
                let before = open()
                let listed = Set(await session.tasks().map(\.id)).intersection(ids)
                let after = open()
                if !listed.isSubset(of: before) { world.ledger.violation("tasks that had ended were listed") }
                // Those without a result before and after were without one in between.
                if !mayMiss, !listed.isSuperset(of: before.intersection(after)) {
                    world.ledger.violation("of the tasks \(before.intersection(after)) only \(listed) were listed")
                }
                if after.isEmpty { break }
                try? await Task.sleep(for: .milliseconds(2))
            }
            await starting.value
        }
        for task in kept { note("listed", await outcome(of: task)) }
    }

    /// Uses the program's shared session, which ends for nobody.
    mutating func useShared() async {
        let shared: Session
        do throws(TransferError) { shared = try Session.shared } catch {
            return world.ledger.violation("no shared session: \(error)")
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: await world.watch.expect("the end of the shared session") { await shared.invalidateAndCancel() }
        case 1: await world.watch.expect("the end of the shared session") { await shared.finishTasksAndInvalidate() }
        default: break
        }
        var options = TaskOptions()
        options.retries = false
        options.timeoutForRequest = .seconds(3)
        // A type of its own closes the connection afterwards, so that none is left at the end of a round.
        options.serviceType = random.pick(ServiceType.allCases.filter { $0 != .default })
        let file = anyFile
        let target = world.newPath("shared")
        defer { unlink(target) }
        let request = HTTPRequest(method: .get, scheme: "http", authority: home.authority, path: "/file/\(file)")
        let isDownload = random.one(in: 2)
        let task =
            isDownload
            ? shared.downloadTask(request, to: target, options: options) : shared.dataTask(request, options: options)
        if await !shared.tasks().contains(where: { $0 === task }) {
            world.ledger.violation("the shared session does not list a task that was never resumed")
        }
        switch await perform("shared", task, file: isDownload ? nil : file) {
        case .success(let result): if let written = result.file { check(written, file, result) }
        case .failure(let error):
            if error.code == .sessionInvalid { world.ledger.violation("the shared session has ended") }
        }
    }

    /// Has the delegate read a body in pieces; it judges them.
    mutating func readPieces() async {
        let file = anyFile
        var options = options()
        options.deliversPieces = true
        options.disposition = nil
        let hasDelegate = session.inbox.events.hasDelegate
        let task = session.dataTask(request(.get, "/file/\(file)"), options: options)
        let result = await perform("pieces", task, file: hasDelegate ? nil : file)
        if hasDelegate, case .success(let result) = result, result.response.status.code == 200, !result.bytes.isEmpty {
            world.ledger.violation("a body was in pieces, and \(result.bytes.count) bytes of it in the result")
        }
    }
}

import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

/// What a monitor heard of each task, held to the order in which things happen.
private final class OrderWatch: EventMonitor {
    private struct Story {
        var isRunning = false
        var hasBegun = false
        var isOver = false
        var attempt = 0
        var bytes: (sent: Int64, received: Int64) = (0, 0)
    }

    private let stories = Mutex<[UInt64: Story]>([:])
    let problems = Log<String>()
    let finished = Log<UInt64>()
    let ended = Log<Void>()

    func receive(_ event: TaskEvent, of task: SessionTask) async {
        if isOnSessionThread { problems.add("on the session's thread") }
        let problem = stories.withLock { stories -> String? in
            var story = stories[task.id] ?? Story()
            defer { stories[task.id] = story }
            if story.isOver { return "something after the end" }
            switch event {
            case .created:
                return stories[task.id] == nil ? nil : "made late"
            case .resumed:
                defer { (story.isRunning, story.hasBegun) = (true, true) }
                return story.isRunning ? "resumed twice" : nil
            case .suspended:
                defer { story.isRunning = false }
                return story.isRunning ? nil : "suspended twice"
            case .attemptStarted(let number, _):
                defer { (story.attempt, story.bytes) = (number, (0, 0)) }
                return story.hasBegun && (number == story.attempt || number == story.attempt + 1)
                    ? nil : "attempt \(number)"
            case .responseReceived, .downloadResumed, .redirected, .waitingForConnectivity, .retryScheduled:
                return story.attempt > 0 ? nil : "\(event) before an attempt"
            case .progress(let progress):
                if progress.attempt > story.attempt { story.bytes = (0, 0) }
                defer { story.bytes = (progress.bytesSent, progress.bytesReceived) }
                return progress.bytesSent >= story.bytes.sent && progress.bytesReceived >= story.bytes.received
                    ? nil : "counters shrink"
            case .finished:
                story.isOver = true
                return nil
            }
        }
        if let problem { problems.add("task \(task.id): \(problem)") }
        if case .finished = event { finished.add(task.id) }
    }

    func sessionEnded(_ name: String) async { ended.add(()) }
}

extension Live {
    @Suite struct StormTests {
        @Test(
            "in a storm of starts, suspensions and cancels every task gets legal callbacks and one completion",
            arguments: [1, 2, 3] as [UInt64])
        func storm(seed: UInt64) async throws {
            print("storm: seed \(seed)")
            let count = 240
            let server = try FaultServer { peer, request in
                _ = peer.skip(request.contentLength)
                switch request.target.dropFirst().prefix(1) {
                case "m": return peer.respond(307, "moved", fields: ["Location: /x"]) ? .keep : .close
                case "b": return peer.respond(request.indexOnConnection % 2 == 0 ? 200 : 503, "busy") ? .keep : .close
                case "c" where request.indexOnConnection % 3 == 0: return .reset
                default: return peer.respond(200, String(repeating: "x", count: 50_000)) ? .keep : .close
                }
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            let (log, watch) = (CallbackLog(), OrderWatch())
            let tasks = Log<SessionTask>()
            try await withSession(
                {
                    $0.retryPolicy = .standard
                    $0.retryPolicy.firstDelay = .milliseconds(2)
                    $0.eventMonitors = [watch]
                }, delegate: log
            ) { session in
                await withTaskGroup(of: Void.self) { group in
                    for worker in 0..<4 {
                        group.addTask {
                            var random = SeededGenerator(seed: seed &* 1000 &+ UInt64(worker))
                            for number in 0..<(count / 4) {
                                let path = "/" + (["m", "b", "c", "x"].randomElement(using: &random) ?? "x")
                                let task =
                                    switch Int.random(in: 0..<3, using: &random) {
                                    case 0: session.dataTask(server.request(.get, path))
                                    case 1:
                                        session.uploadTask(
                                            server.request(.put, path), from: .bytes(Array(repeating: 1, count: 90_000))
                                        )
                                    default:
                                        session.downloadTask(
                                            server.request(.get, path), to: folder.file("\(worker)-\(number)"))
                                    }
                                tasks.add(task)
                                for _ in 0..<Int.random(in: 1...8, using: &random) {
                                    switch Int.random(in: 0..<20, using: &random) {
                                    case 0..<8: task.resume()
                                    case 8..<14: task.suspend()
                                    case 14: task.cancel()
                                    default: await Task.yield()
                                    }
                                }
                                if Bool.random(using: &random) { continue }
                                while task.state == .suspended { task.resume() }
                            }
                        }
                    }
                }
                for task in tasks.entries { while task.state == .suspended { task.resume() } }
                await session.finishTasksAndInvalidate()
                for task in tasks.entries {
                    let error = await failure { () async throws(TransferError) in try await task.value }
                    await log.log.wait { $0.contains { $0.task == task.id && $0.callback == .completed(error?.code) } }
                }
            }
            await log.ended()
            await watch.ended.wait { !$0.isEmpty }
            for task in tasks.entries {
                var grammar = CallbackGrammar()
                let callbacks = log.callbacks(of: task.id)
                #expect(callbacks.allSatisfy { grammar.accepts($0) } && grammar.isComplete, "\(callbacks)")
            }
            #expect(log.log.entries.last?.callback == .invalid("test") && !log.isBroken.withLock { $0 })
            #expect(watch.problems.entries == [])
            #expect(watch.finished.entries.sorted() == tasks.entries.map(\.id).sorted())
            let ended = log.log.entries.count { if case .completed(nil) = $0.callback { true } else { false } }
            print("storm: \(ended) of \(count) brought a response, \(log.log.entries.count) callbacks")
            #expect((1..<count).contains(ended))
        }
    }
}

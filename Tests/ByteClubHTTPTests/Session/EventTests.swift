import HTTPTypes
import Testing

@testable import ByteClubHTTP

/// Writes down what it hears, and can be held up.
private final class Ear: EventMonitor {
    let log = Log<TaskEvent>()
    let isFree = Log<Void>()

    func receive(_ event: TaskEvent, of task: SessionTask) async {
        await isFree.wait { !$0.isEmpty }
        log.add(event)
    }

    /// Each event in a word.
    var words: [String] {
        log.entries.map { event in
            switch event {
            case .created: "created"
            case .resumed: "resumed"
            case .suspended: "suspended"
            case .attemptStarted(let number, _): "attempt \(number)"
            case .responseReceived(let response): "response \(response.status.code)"
            case .downloadResumed(let offset, let expected): "resumed \(offset) of \(expected)"
            case .redirected(let response, _): "redirect \(response.status.code)"
            case .waitingForConnectivity: "waiting"
            case .retryScheduled(_, .newCredential): "new credential"
            case .retryScheduled(_, .response(let response)): "retry after \(response.status.code)"
            case .retryScheduled(_, .failure(let error)): "retry after \(error.code)"
            case .progress(let progress): "progress \(progress.bytesReceived)"
            case .finished(.success): "finished"
            case .finished(.failure(let error)): "failed \(error.code)"
            }
        }
    }
}

extension Live {
    @Suite struct EventTests {
        @Test("a monitor hears all that happens to a task, addresses without their query, however slow it is")
        func all() async throws {
            let server = try FaultServer { peer, request in
                if request.target.hasPrefix("/moved") {
                    return peer.respond(302, fields: ["Location: /end?key=secret"]) ? .keep : .close
                }
                return peer.respond(request.indexOnConnection == 2 ? 503 : 200) ? .keep : .close
            }
            defer { server.stop() }
            let ear = Ear()
            try await withSession {
                $0.retryPolicy = .standard
                $0.retryPolicy.firstDelay = .zero
                $0.eventMonitors = [ear]
            } _: { session in
                let task = session.dataTask(server.request(.get, "/moved?key=secret"))
                task.resume()
                task.suspend()
                task.suspend()
                task.resume()
                task.resume()
                // The session does not wait for who listens.
                _ = try await task.value
                let cancelled = session.dataTask(server.request())
                cancelled.cancel()
                ear.isFree.add(())
            }
            await ear.log.wait { $0.contains { if case .finished(.failure) = $0 { true } else { false } } }
            #expect(
                ear.words.filter { !$0.hasPrefix("progress") } == [
                    "created", "resumed", "suspended", "resumed", "attempt 1", "response 302", "redirect 302",
                    "attempt 1", "response 503", "retry after 503", "attempt 2", "response 200", "finished", "created",
                    "failed cancelled",
                ])
            #expect(
                !ear.log.entries.contains { event in
                    switch event {
                    case .attemptStarted(_, let url), .redirected(_, let url): url.contains("secret")
                    default: false
                    }
                })
        }
    }
}

struct EventChannelTests {
    @Test("of counters only the newest since the last other event are kept, others are never dropped")
    func bounds() async throws {
        let inbox = try Inbox(.default, events: EventHub(monitors: [], delegate: nil, name: "test"))
        let request = HTTPRequest(method: .get, scheme: "http", authority: "a.test", path: "/")
        let task = SessionTask(.data, request, body: .none, options: TaskOptions(), inbox: inbox)
        let ear = Ear()
        let ended = Log<Void>()
        let channel = EventChannel { item in
            if case .event(let event, let task) = item { await ear.receive(event, of: task) } else { ended.add(()) }
        }
        var progress = TaskProgress()
        channel.post(.event(.created, task))
        for round in 1...100 {
            for _ in 0..<100 {
                progress.bytesReceived += 1
                channel.post(.event(.progress(progress), task))
            }
            channel.post(.event(round.isMultiple(of: 2) ? .suspended : .resumed, task))
        }
        channel.post(.end)
        #expect(!channel.post(.event(.created, task)))
        ear.isFree.add(())
        await ended.wait { !$0.isEmpty }
        let words = ear.words
        // The delivery may have begun with any number of them.
        #expect(words.filter { !$0.hasPrefix("progress") }.count == 101)
        #expect(words.count <= 202 && words.last == "resumed" || words.last == "suspended")
        for round in 1...100 { #expect(words.contains("progress \(round * 100)")) }
    }
}

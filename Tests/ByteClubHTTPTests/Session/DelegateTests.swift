import HTTPTypes
import Synchronization
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct DelegateTests {
        /// Redirects `/moved`, answers 503 once at `/busy`, cuts `/cut` off once, and answers all else with its path.
        private func server() throws -> FaultServer {
            let seen = Counts()
            return try FaultServer { peer, request in
                _ = peer.skip(request.contentLength)
                let isFirst = seen.counts.withLock { $0.updateValue(1, forKey: request.target) == nil }
                switch request.target {
                case "/moved": return peer.respond(307, "elsewhere", fields: ["Location: /here"]) ? .keep : .close
                case "/busy" where isFirst: return peer.respond(503, "busy") ? .keep : .close
                case "/cut" where isFirst:
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n/cu")
                    return .close
                case "/none": return peer.respond(404, "none") ? .keep : .close
                default: return peer.respond(200, request.target) ? .keep : .close
                }
            }
        }

        /// The callbacks, which must be legal, without the ones about moved bytes.
        private func milestones(_ log: CallbackLog, _ task: SessionTask) -> [CallbackLog.Callback] {
            var grammar = CallbackGrammar()
            let callbacks = log.callbacks(of: task.id)
            #expect(callbacks.allSatisfy { grammar.accepts($0) } && grammar.isComplete, "\(callbacks)")
            return callbacks.filter {
                switch $0 {
                case .sent, .wrote, .metrics: false
                default: true
                }
            }
        }

        @Test("a delegate is not asked about a redirect of a task whose end it heard of")
        func lateRedirect() async throws {
            let log = CallbackLog()
            try await withSession(delegate: log) { session in
                let request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1", path: "/")
                let task = session.dataTask(request)
                task.cancel()
                let redirect = Redirect(
                    response: HTTPResponse(status: .found), request: request, number: 1, leavesOrigin: false)
                _ = await task.inbox.events.decide(redirect, of: task)
                #expect(milestones(log, task) == [.completed(.cancelled)])
            }
        }

        @Test("callbacks come in URLSession's order, completion last, and the end of the session after all")
        func order() async throws {
            let server = try server()
            defer { server.stop() }
            let folder = TemporaryFolder()
            let log = CallbackLog()
            var tasks: [SessionTask] = []
            try await withSession(
                {
                    $0.retryPolicy = .standard
                    $0.retryPolicy.firstDelay = .zero
                }, delegate: log
            ) { session in
                let body = Body.bytes(Array(repeating: 1, count: 3 << 20))
                tasks = [
                    session.dataTask(server.request(.get, "/a")), session.dataTask(server.request(.get, "/none")),
                    session.uploadTask(server.request(.put, "/moved"), from: body),
                    session.dataTask(server.request(.get, "/busy")), session.dataTask(server.request(.head, "/a")),
                    session.downloadTask(server.request(.get, "/cut"), to: folder.file("cut")),
                    session.dataTask(server.request(.connect)),
                ]
                for task in tasks {
                    task.resume()
                    _ = try? await task.value
                }
                await session.finishTasksAndInvalidate()
                let late = session.dataTask(server.request())
                late.resume()
                let error = await failure { () async throws(TransferError) in try await late.value }
                #expect(error?.code == .sessionInvalid && late.state == .completed)
            }
            await log.ended()
            let bytes = { (text: String) in CallbackLog.Callback.data(Array(text.utf8)) }
            let expected: [[CallbackLog.Callback]] = [
                [.response(200), bytes("/a"), .completed(nil)], [.response(404), bytes("none"), .completed(nil)],
                [.willFollow("/here"), .response(200), bytes("/here"), .completed(nil)],
                [.willRetry, .response(200), bytes("/busy"), .completed(nil)], [.response(200), .completed(nil)],
                [.response(200), .willRetry, .response(200), .downloaded(folder.file("cut")), .completed(nil)],
                [.completed(.badRequest)],
            ]
            for (task, callbacks) in zip(tasks, expected) { #expect(milestones(log, task) == callbacks) }
            #expect(log.log.entries.last?.callback == .invalid("test") && log.callbacks(of: 0).count == 1)
            #expect(!log.isBroken.withLock { $0 })
            // The whole body is reported as sent before each of the two responses, including the redirecting one.
            let put = log.callbacks(of: tasks[2].id)
            let mark = try #require(put.firstIndex(of: .willFollow("/here")))
            let end = try #require(put.firstIndex(of: .response(200)))
            for last in [put[..<mark].last, put[mark..<end].last] {
                guard case .sent(_, let total, let expected)? = last else {
                    Issue.record("no bytes were told in \(put)")
                    continue
                }
                #expect(total == 3 << 20 && expected == 3 << 20)
            }
            guard
                case .wrote(_, 4, 4)? = log.callbacks(of: tasks[5].id).last(where: {
                    if case .wrote = $0 { true } else { false }
                })
            else {
                Issue.record("the bytes of the file were not told")
                return
            }
        }

        @Test("the delegate decides about redirects where no policy does; a cancelled task's answer has no effect")
        func redirects() async throws {
            let server = try server()
            defer { server.stop() }
            let asked = Log<Void>()
            let log = CallbackLog { task, redirect in
                guard redirect.request.method == .get else { return .stop }
                asked.add(())
                while task.state != .completed { await Task.yield() }
                return .follow
            }
            try await withSession(delegate: log) { session in
                let stopped = session.uploadTask(server.request(.put, "/moved"), from: .bytes([1]))
                stopped.resume()
                let result = try await stopped.value
                #expect(result.response.status.code == 307 && result.bytes == Array("elsewhere".utf8))
                var options = TaskOptions()
                options.policy.redirectHandler = { _ in .follow }
                _ = try await session.data(for: server.request(.get, "/moved"), options: options)
                #expect(asked.entries.isEmpty)
                let cancelled = session.dataTask(server.request(.get, "/moved"))
                cancelled.resume()
                await asked.wait { !$0.isEmpty }
                cancelled.cancel()
                let error = await failure { () async throws(TransferError) in try await cancelled.value }
                #expect(error?.code == .cancelled)
                await session.invalidateAndCancel()
                await log.ended()
                #expect(milestones(log, cancelled) == [.willFollow("/here"), .completed(.cancelled)])
                #expect(server.requests.count == 4)
            }
        }

        @Test("the delegate is let go once the session has ended, also where the session was only dropped")
        func release() async throws {
            for isDropped in [true, false] {
                let ended = Log<Void>()
                weak var weakLog: CallbackLog?
                do {
                    let log = CallbackLog()
                    weakLog = log
                    let watch = Task { [weak log] in
                        await log?.ended()
                        ended.add(())
                    }
                    let session = try Session(configuration: .ephemeral, delegate: log, name: "test")
                    if !isDropped { await session.invalidateAndCancel() }
                    _ = consume session
                    await watch.value
                }
                await ended.wait { !$0.isEmpty }
                for _ in 0..<2000 where weakLog != nil { try await Task.sleep(for: .milliseconds(5)) }
                #expect(weakLog == nil)
            }
        }
    }
}

import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct TaskListTests {
        @Test("the tasks of a session are those without a result: never resumed, suspended, queued and running")
        func all() async throws {
            let server = try FaultServer { peer, _ in
                peer.waitForEnd()
                return .close
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession {
                $0.maximumTasksPerHost = 1
            } _: { session in
                #expect(await session.tasks().isEmpty)
                let fresh = session.dataTask(server.request())
                let running = session.dataTask(server.request())
                let queued = session.uploadTask(server.request(.put), from: .bytes([1]))
                let suspended = session.downloadTask(server.request(), to: folder.file("f"))
                let cancelled = session.dataTask(server.request())
                for task in [running, queued, suspended] { task.resume() }
                suspended.suspend()
                cancelled.cancel()
                await server.received(1)
                #expect(await session.tasks().map(\.id) == [fresh, running, queued, suspended].map(\.id))
                let found = await session.tasks()
                #expect(found.first === fresh && found.map(\.state) == [.suspended, .running, .running, .suspended])
                async let asked = session.data(for: server.request())
                while await session.tasks().count < 5 { await Task.yield() }
                for task in await session.tasks() { task.cancel() }
                _ = try? await asked
                for task in [fresh, running, queued, suspended] {
                    let error = await failure { () async throws(TransferError) in try await task.value }
                    #expect(error?.code == .cancelled)
                }
                #expect(await session.tasks().isEmpty)
            }
        }

        @Test("a task that is dropped before its first resume is in the list no more, and no memory is kept for it")
        func dropped() async throws {
            try await withSession { session in
                let request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1", path: "/")
                let kept = session.dataTask(request)
                for _ in 0..<100 { _ = session.dataTask(request) }
                #expect(await session.tasks().map(\.id) == [kept.id])
                #expect(kept.inbox.unstarted.count == 1)
            }
        }

        @Test("no task is missing from the list while others resume and end")
        func races() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            try await withSession { session in
                let kept = (0..<20).map { _ in session.dataTask(server.request()) }
                let ids = Set(kept.map(\.id))
                let starting = Task { for task in kept { task.resume() } }
                while true {
                    let before = ids.subtracting(kept.filter { $0.state == .completed }.map(\.id))
                    let listed = Set(await session.tasks().map(\.id))
                    let after = ids.subtracting(kept.filter { $0.state == .completed }.map(\.id))
                    // Those that had no result before and after were without one in between.
                    #expect(listed.isSuperset(of: before.intersection(after)))
                    #expect(listed.isSubset(of: before))
                    if after.isEmpty { break }
                }
                await starting.value
                #expect(kept.allSatisfy { $0.state == .completed })
            }
        }

        @Test("a task that was never resumed ends when its session is cancelled, and its delegate hears of it")
        func unstarted() async throws {
            let log = CallbackLog()
            let session = try Session(configuration: .ephemeral, delegate: log, name: "test")
            let request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1", path: "/")
            let task = session.dataTask(request)
            let isWaiting = Log<Void>()
            let outcome = Task {
                isWaiting.add(())
                return await failure { () async throws(TransferError) in try await task.value }
            }
            await isWaiting.wait { !$0.isEmpty }
            await session.invalidateAndCancel()
            #expect(await outcome.value?.code == .cancelled && task.state == .completed)
            await log.ended()
            #expect(log.callbacks(of: task.id) == [.metrics(attempts: 0), .completed(.cancelled)])
            guard case .invalid? = log.log.entries.last?.callback else {
                Issue.record("the end of the session was not the last callback")
                return
            }
            #expect(await session.tasks().isEmpty)
            // Resuming it, or a later one, starts nothing.
            task.resume()
            let late = session.dataTask(request)
            late.resume()
            let error = await failure { () async throws(TransferError) in try await late.value }
            #expect(error?.code == .sessionInvalid)
        }
    }
}

import Glibc
import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct CancelTests {
        /// Cancels a task once it got where it should be; how long the error took.
        private func cancel(
            _ session: Session, _ request: HTTPRequest, body: Body = .none, path: String? = nil, limit: Int? = nil,
            _ arrived: () async throws -> Void
        ) async throws -> Duration {
            var options = TaskOptions()
            options.rateLimit = limit
            let task =
                path.map { session.downloadTask(request, to: $0, options: options) }
                ?? session.uploadTask(request, from: body, options: options)
            task.resume()
            try await arrived()
            let start = ContinuousClock().now
            task.cancel()
            let error = await failure { () async throws(TransferError) in try await task.value }
            #expect(error?.code == .cancelled)
            #expect(task.state == .completed)
            return start.duration(to: ContinuousClock().now)
        }

        @Test("cancelling mostly takes under 100 ms, in every phase, and leaves nothing behind")
        func everyPhase() async throws {
            let server = try FaultServer { peer, request in
                if request.target == "/body" { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc") }
                peer.waitForEnd()
                return .close
            }
            defer { server.stop() }
            let silent = try SilentPort()
            let folder = TemporaryFolder()
            let big = Body.bytes(Array(repeating: 1, count: 64 << 20))
            var times: [Duration] = []
            try await withSession {
                $0.maximumTasksPerHost = 2
            } _: { session in
                for round in 0..<60 {
                    times.append(try await cancel(session, silent.request) {})
                    times.append(try await cancel(session, server.request()) {})
                    let waiting = server.requests.count
                    times.append(
                        try await cancel(session, server.request(.get, "/wait")) { await server.received(waiting + 1) })
                    let receiving = server.requests.count
                    times.append(
                        try await cancel(session, server.request(.get, "/body"), path: folder.file("f")) {
                            await server.received(receiving + 1)
                        })
                    let sending = server.requests.count
                    times.append(
                        try await cancel(session, server.request(.put, "/send"), body: big, limit: 1 << 20) {
                            await server.received(sending + 1)
                        })
                    let holding = server.requests.count
                    let holder = (0..<2).map { _ in session.dataTask(server.request()) }
                    for task in holder { task.resume() }
                    await server.received(holding + 2)
                    times.append(try await cancel(session, server.request()) {})
                    holder[0].suspend()
                    for task in holder { task.cancel() }
                    for task in holder { _ = await failure { () async throws(TransferError) in try await task.value } }
                    #expect(folder.names.isEmpty, "round \(round)")
                }
            }
            for phase in 0..<6 {
                let sorted = stride(from: phase, to: times.count, by: 6).map { times[$0] }.sorted()
                let (median, worst) = (sorted[sorted.count / 2], sorted[sorted.count - 1])
                print("cancel in phase \(phase): median \(median), worst \(worst)")
                #expect(median <= .milliseconds(100) && worst < .seconds(10), "phase \(phase)")
            }
        }

        @Test("cancelling the Swift task cancels the transfer, also before it began")
        func structured() async throws {
            let server = try FaultServer { peer, _ in
                peer.waitForEnd()
                return .close
            }
            defer { server.stop() }
            try await withSession { session in
                let request = server.request()
                let waiting = Task {
                    await failure { () async throws(TransferError) in try await session.data(for: request) }
                }
                await server.received(1)
                waiting.cancel()
                #expect(await waiting.value?.code == .cancelled)
                let early = Task {
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    return await failure { () async throws(TransferError) in
                        try await session.upload(for: request, from: .none) { _ in }
                    }
                }
                #expect(await early.value?.code == .cancelled)
            }
        }

        /// `BYTECLUB_RACES` is how many there are.
        @Test("twenty thousand starts and cancels at random moments: each ends exactly once, none hangs")
        func races() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let total = unsafe getenv("BYTECLUB_RACES").flatMap { unsafe Int(String(cString: $0)) } ?? 20_000
            try await withSession { session in
                let ended = await withTaskGroup(of: (Int, Int).self) { group in
                    for worker in 0..<8 {
                        group.addTask {
                            var random = SplitMix(state: UInt64(worker))
                            var (done, cancelled) = (0, 0)
                            for _ in 0..<(total / 8) {
                                let task = session.dataTask(server.request())
                                let delay = UInt32.random(in: 0...2000, using: &random)
                                let canceller = Task {
                                    if delay > 500 { usleep(delay - 500) } else { await Task.yield() }
                                    task.cancel()
                                }
                                if Bool.random(using: &random) { await Task.yield() }
                                task.resume()
                                if Bool.random(using: &random) { task.suspend(); task.resume() }
                                do throws(TransferError) {
                                    _ = try await task.value
                                    done += 1
                                } catch {
                                    if error.code == .cancelled { cancelled += 1 }
                                }
                                await canceller.value
                            }
                            return (done, cancelled)
                        }
                    }
                    return await group.reduce((0, 0)) { ($0.0 + $1.0, $0.1 + $1.1) }
                }
                print("races: \(ended.0) done, \(ended.1) cancelled")
                #expect(ended.0 + ended.1 == total / 8 * 8)
            }
        }
    }
}

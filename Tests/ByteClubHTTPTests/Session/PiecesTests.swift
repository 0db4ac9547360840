import Glibc
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    /// Bodies that a delegate receives as they arrive, and where it is called.
    @Suite struct PiecesTests {
        private static var inPieces: TaskOptions {
            var options = TaskOptions()
            options.deliversPieces = true
            return options
        }

        /// The callbacks of a task, which must be legal.
        private func callbacks(_ log: CallbackLog, _ task: SessionTask) -> [CallbackLog.Callback] {
            var grammar = CallbackGrammar()
            let callbacks = log.callbacks(of: task.id)
            #expect(callbacks.allSatisfy { grammar.accepts($0) } && grammar.isComplete, "\(callbacks)")
            return callbacks.filter { if case .metrics = $0 { false } else { true } }
        }

        @Test("a piece of a body reaches the delegate before the server has sent the next")
        func pieces() async throws {
            let gates = [Gate(), Gate()]
            let server = try FaultServer { peer, _ in
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
                peer.send("one")
                gates[0].pass()
                peer.send("two")
                gates[1].pass()
                return peer.send("six") ? .keep : .close
            }
            defer { server.stop() }
            let log = CallbackLog()
            var task: SessionTask?
            try await withSession(delegate: log) { session in
                let started = session.dataTask(server.request(), options: Self.inPieces)
                task = started
                started.resume()
                for (text, gate) in zip(["one", "two"], gates) {
                    await log.log.wait { $0.contains { $0.callback == .data(Array(text.utf8)) } }
                    gate.open()
                }
                let result = try await started.value
                #expect(result.bytes.isEmpty && result.progress.bytesReceived == 9)
            }
            await log.ended()
            let pieces = ["one", "two", "six"].map { CallbackLog.Callback.data(Array($0.utf8)) }
            let done = try #require(task)
            #expect(callbacks(log, done) == [.response(200)] + pieces + [.completed(nil)])
        }

        @Test("other responses, and the tasks of a session without a delegate, have their body in one")
        func whole() async throws {
            let server = try FaultServer { peer, request in
                switch request.target {
                case "/none": peer.respond(404, "none") ? .keep : .close
                case "/empty": peer.respond(200) ? .keep : .close
                default: peer.respond(200, "whole") ? .keep : .close
                }
            }
            defer { server.stop() }
            let log = CallbackLog()
            var tasks: [SessionTask] = []
            try await withSession(delegate: log) { session in
                for path in ["/none", "/empty"] {
                    let task = session.dataTask(server.request(.get, path), options: Self.inPieces)
                    tasks.append(task)
                    task.resume()
                    let result = try await task.value
                    #expect(result.bytes == (path == "/none" ? Array("none".utf8) : []))
                }
                // An async function has its caller as the reader.
                let (bytes, _) = try await session.data(for: server.request(), options: Self.inPieces)
                #expect(bytes == Array("whole".utf8))
            }
            await log.ended()
            #expect(callbacks(log, tasks[0]) == [.response(404), .data(Array("none".utf8)), .completed(nil)])
            #expect(callbacks(log, tasks[1]) == [.response(200), .completed(nil)])
            try await withSession { session in
                let task = session.dataTask(server.request(), options: Self.inPieces)
                task.resume()
                let result = try await task.value
                #expect(result.bytes == Array("whole".utf8))
            }
        }

        @Test("the pieces before a lost connection are delivered, and nothing is requested again")
        func lost() async throws {
            let server = try FaultServer { peer, _ in
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none")
                return .close
            }
            defer { server.stop() }
            let log = CallbackLog()
            var task: SessionTask?
            try await withSession(
                {
                    $0.retryPolicy = .standard
                    $0.retryPolicy.firstDelay = .zero
                }, delegate: log
            ) { session in
                let started = session.dataTask(server.request(), options: Self.inPieces)
                task = started
                started.resume()
                let error = await failure { () async throws(TransferError) in try await started.value }
                #expect(error?.code == .connectionLost && server.requests.count == 1)
            }
            await log.ended()
            let expected: [CallbackLog.Callback] = [
                .response(200), .data(Array("one".utf8)), .completed(.connectionLost),
            ]
            let done = try #require(task)
            #expect(callbacks(log, done) == expected)
        }

        @Test("a slow delegate holds the server back, with at most a mebibyte waiting, and misses nothing")
        func backPressure() async throws {
            let size = 32 << 20
            let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 >> 8 ^ $0 >> 16) }
            let server = try FaultServer { peer, _ in
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
                return peer.send(body) ? .keep : .close
            }
            defer { server.stop() }
            let slow = SlowReader()
            try await withSession(delegate: slow) { session in
                var options = Self.inPieces
                options.maximumResponseBytes = 1
                let task = session.dataTask(server.request(), options: options)
                guard case .stream(let stream) = task.kind else {
                    Issue.record("the body is not streamed")
                    return
                }
                task.resume()
                // The delegate may have a block of the full ring.
                try await eventually("the ring fills") { stream.count > BodyRing.highWater - (130 << 10) }
                // The same body comes whole to another reader meanwhile; StreamTests shows that no time runs.
                let (bytes, _) = try await session.bytes(for: server.request())
                var count = 0
                for try await chunk in bytes { count += chunk.count }
                #expect(count == size)
                #expect(task.state == .running && stream.count <= BodyRing.highWater)
                #expect(task.progress.bytesReceived < 2 << 20)
                slow.isFree.add(())
                _ = try await task.value
                await session.finishTasksAndInvalidate()
            }
            await slow.ended.wait { !$0.isEmpty }
            #expect(slow.bytes.withLock { $0 } == body)
        }

        @Test("a body that never ends does not keep other tasks' callbacks waiting, and can be cancelled")
        func fairness() async throws {
            let chunk = Array(repeating: UInt8(1), count: 64 << 10)
            let server = try FaultServer { peer, request in
                if request.target == "/small" { return peer.respond(200, "small") ? .keep : .close }
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\n")
                while peer.send(chunk) {}
                return .close
            }
            defer { server.stop() }
            let watch = EndNotes()
            try await withSession(delegate: watch) { session in
                let endless = session.dataTask(server.request(), options: Self.inPieces)
                endless.resume()
                await watch.hasBytes.wait { !$0.isEmpty }
                let small = session.dataTask(server.request(.get, "/small"))
                small.resume()
                await watch.ends.wait { $0.contains(small.id) }
                #expect(endless.state == .running)
                endless.cancel()
                await watch.ends.wait { $0.contains(endless.id) }
            }
        }

        @Test("a delegate of the main actor is called there")
        func mainActor() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let delegate = MainDelegate()
            try await withSession(delegate: delegate) { session in
                let task = session.dataTask(server.request())
                task.resume()
                _ = try await task.value
            }
            await delegate.ended.wait { !$0.isEmpty }
            #expect(await delegate.text == "200 0 end")
        }

        @Test("a delegate's callbacks run on the executor that it names")
        func executor() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let delegate = PlacedDelegate()
            try await withSession(delegate: delegate) { session in
                let task = session.dataTask(server.request())
                task.resume()
                _ = try await task.value
            }
            await delegate.places.wait { $0.count == 4 }
            #expect(delegate.places.entries == [true, true, true, true])
        }
    }
}

/// Receives nothing until it is free, then all bytes.
private final class SlowReader: SessionDelegate {
    let isFree = Log<Void>()
    let ended = Log<Void>()
    let bytes = Mutex<[UInt8]>([])

    func task(_ task: SessionTask, didReceive data: [UInt8]) async {
        await isFree.wait { !$0.isEmpty }
        bytes.withLock { $0 += data }
    }

    func sessionDidBecomeInvalid(_ name: String) async { ended.add(()) }
}

/// Notes the first bytes of all, and each task that has ended.
private final class EndNotes: SessionDelegate {
    let hasBytes = Log<Void>()
    let ends = Log<UInt64>()

    func task(_ task: SessionTask, didReceive data: [UInt8]) async {
        if hasBytes.entries.isEmpty { hasBytes.add(()) }
    }

    func task(_ task: SessionTask, didCompleteWith error: TransferError?) async { ends.add(task.id) }
}

/// Uses the main actor's state without a lock.
@MainActor private final class MainDelegate: SessionDelegate {
    var text = ""
    nonisolated let ended = Log<Void>()

    func task(_ task: SessionTask, didReceive response: HTTPResponse) async {
        MainActor.assertIsolated()
        text += "\(response.status.code) "
    }

    func task(_ task: SessionTask, didReceive data: [UInt8]) async { text += String(decoding: data, as: UTF8.self) }

    func task(_ task: SessionTask, didCompleteWith error: TransferError?) async { text += " end" }

    func sessionDidBecomeInvalid(_ name: String) async { ended.add(()) }
}

/// Notes whether its callbacks run on its executor.
private final class PlacedDelegate: SessionDelegate {
    let places = Log<Bool>()
    private let threads = JobThreads()

    var taskExecutor: (any TaskExecutor)? { threads }

    func task(_ task: SessionTask, didReceive response: HTTPResponse) async { places.add(threads.isCurrent) }

    func task(_ task: SessionTask, didReceive data: [UInt8]) async {
        await Task.yield()
        places.add(threads.isCurrent)
    }

    func task(_ task: SessionTask, didCompleteWith error: TransferError?) async { places.add(threads.isCurrent) }

    func sessionDidBecomeInvalid(_ name: String) async { places.add(threads.isCurrent) }
}

/// Runs each job on a thread of its own.
private final class JobThreads: TaskExecutor {
    private let running = Mutex<Set<pthread_t>>([])

    /// Whether the calling thread runs a job of this executor.
    var isCurrent: Bool { running.withLock { $0.contains(pthread_self()) } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        BackgroundThread.start { [self] in
            running.withLock { _ = $0.insert(pthread_self()) }
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            running.withLock { _ = $0.remove(pthread_self()) }
        }
    }
}

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

extension FakeDaemon {
    fileprivate func control(isStarting: Bool = true) async throws(TransferError) -> BackgroundControl {
        try await BackgroundControl(connector(isStarting: isStarting))
    }
}

@Suite("Control of a daemon's tasks")
struct BackgroundControlTests {
    private func request(_ label: String) -> BackgroundRequest {
        var request = BackgroundRequest(.custom(kind: "test", payload: []))
        request.options.label = label
        return request
    }

    @Test("work is recorded in its order, also when the answer is lost")
    func submit() async throws {
        let daemon = FakeDaemon()
        let control = try await daemon.control()
        daemon.decideOnce(.diesUnanswered) { if case .submit = $0 { true } else { false } }
        let statuses = try await control.submit(["a", "b", "c"].map(request), identifier: "photos")
        #expect(statuses.map(\.request.options.label) == ["a", "b", "c"])
        #expect(daemon.tasks == statuses)
        #expect(try await control.tasks() == statuses)
        #expect(try await control.submit([], identifier: "photos") == [])
        let error = await failure { () async throws(TransferError) in try await control.submit([], identifier: "") }
        #expect(error?.code == .badConfiguration)
    }

    @Test("changes apply to all tasks or none, and may be repeated")
    func change() async throws {
        let daemon = FakeDaemon()
        let ids = [daemon.add("photos"), daemon.add("notes")]
        let control = try await daemon.control()
        daemon.decideOnce(.diesUnanswered) { if case .change = $0 { true } else { false } }
        #expect(try await control.change(ids, .pause).map(\.state) == [.paused, .paused])
        let unknown = await failure { () async throws(TransferError) in
            try await control.change(ids + [.random()], .resume)
        }
        #expect(unknown?.code == .unknownTask && daemon.tasks.allSatisfy { $0.state == .paused })
        daemon.decideOnce(.diesUnanswered) { if case .change = $0 { true } else { false } }
        #expect(try await control.change(ids, .forget) == [])
        #expect(daemon.tasks.isEmpty)
    }

    @Test("a schedule is set and read")
    func schedule() async throws {
        let daemon = FakeDaemon()
        let control = try await daemon.control()
        #expect(try await control.schedule() == RateSchedule())
        let schedule = RateSchedule(otherwise: 1 << 20, spans: [.init(from: 60, to: 120, rate: 0)])
        try await control.setSchedule(schedule)
        #expect(try await control.schedule() == schedule)
        daemon.decide { _ in .with(.done) }
        let error = await failure { () async throws(TransferError) in try await control.schedule() }
        #expect(error?.code == .protocolViolation)
    }

    @Test("updates include all tasks, continue over a restart, and end with their reader")
    func updates() async throws {
        let daemon = FakeDaemon()
        let first = daemon.add("photos")
        let control = try await daemon.control()
        do {
            let sequence = try await control.updates()
            var updates = sequence.makeAsyncIterator()
            #expect(await updates.next()?.id == first)
            let second = daemon.add("notes")
            #expect(await updates.next()?.id == second)
            daemon.end()
            daemon.change(first) { $0.bytes = 3 }
            #expect(await updates.next()?.bytes == 3)
            let reading = Task {
                var updates = sequence.makeAsyncIterator()
                return await updates.next()
            }
            reading.cancel()
            #expect(await reading.value == nil)
        }
        // The control's, and two of the updates'.
        await daemon.connections.wait { log in log.count { !$0 } == 3 }
    }

    @Test("a control leaves results to their sessions")
    func results() async throws {
        let daemon = FakeDaemon()
        let id = daemon.add("photos")
        daemon.finish(id)
        let control = try await daemon.control()
        var updates = try await control.updates().makeAsyncIterator()
        #expect(await updates.next()?.state == .done)
        await control.close()
        #expect(daemon.tasks.map(\.id) == [id])
        let error = await failure { () async throws(TransferError) in try await control.tasks() }
        #expect(error?.code == .sessionInvalid)
    }

    @Test("stop ends a daemon that runs and starts none")
    func stop() async throws {
        let daemon = FakeDaemon()
        let control = try await daemon.control()
        try await control.stop()
        #expect(daemon.calls.entries == [.stop])
        #expect(try await control.tasks() == [])
        daemon.stopListening()
        try await control.stop()
        #expect(daemon.calls.entries == [.stop, .list])
    }

    @Test("a control that may not start a daemon throws when none runs")
    func none() async throws {
        let daemon = FakeDaemon()
        daemon.stopListening()
        let error = await failure { () async throws(TransferError) in try await daemon.control(isStarting: false) }
        #expect(error?.code == .daemonUnavailable)
    }

    @Test("looking connects to no socket where no daemon runs, so systemd starts none")
    func looking() async throws {
        let daemon = FakeDaemon(isRunning: false)
        #expect(try await BackgroundControl.running(daemon.service) == nil)
        #expect(try await BackgroundControl.looking(at: daemon.service) == nil)
        #expect(WarmConnections.find(daemon.service) == nil)
        let error = await failure { () async throws(TransferError) in
            try await BackgroundControl(daemon.service, isStarting: false)
        }
        #expect(error?.code == .daemonUnavailable && error?.message.contains("runs for") == true)
        // This one connects; it could not behind others that wait to be accepted.
        _ = try await BackgroundControl(daemon.service)
        #expect(daemon.connections.entries.count { $0 } == 1)
        let running = FakeDaemon()
        #expect(try await BackgroundControl.running(running.service)?.tasks() == [])
    }

    @Test("queries of the lock disturb neither each other nor a starting daemon")
    func lock() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("lock")
        #expect(!DaemonLock.isHeld(path) && DaemonLock.holder(path) == nil)
        let isOver = Mutex(false)
        for _ in 0..<2 {
            BackgroundThread.start { while !isOver.withLock({ $0 }) { _ = DaemonLock.isHeld(path) } }
        }
        defer { isOver.withLock { $0 = true } }
        for _ in 0..<300 {
            let lock = try #require(try DaemonLock.take(path), "a daemon was told that another one runs")
            #expect(try DaemonLock.take(path) == nil)
            #expect(DaemonLock.isHeld(path) && DaemonLock.holder(path) == getpid())
            close(lock)
        }
        #expect(!DaemonLock.isHeld(path))
    }

    @Test("a daemon that does not greet is an error with its process and a remedy")
    func silent() async throws {
        let daemon = FakeDaemon()
        daemon.decide { _ in .never }
        for isStarting in [true, false] {
            var connector = daemon.connector(isStarting: isStarting)
            connector.patience = 1
            let error = await failure { [connector] () async throws(TransferError) in
                try await BackgroundControl(connector)
            }
            #expect(error?.code == .daemonUnavailable)
            let process = getpid()
            let words = "(process \(process)) does not answer; stop it with 'kill -9 \(process)'"
            #expect(error?.message.hasSuffix(words) == true, "\(error?.message ?? "")")
        }
        #expect(daemon.connections.entries.count { $0 } == 2)
    }

    @Test("a call to a daemon that no longer answers is an error with its process and a remedy, and may be repeated")
    func unanswered() async throws {
        let daemon = FakeDaemon()
        let stops = Log<Bool>()
        var connector = daemon.connector
        connector.tick = { await stops.wait { $0.last == true } }
        let control = try await BackgroundControl(connector)
        let session = try await BackgroundSession(
            configuration: .background("photos", service: daemon.service), connector)
        let task = session.workTask("test", payload: [])
        daemon.decide { call in if case .hello = call { .answered } else { .never } }
        let asking: [Task<Void, any Error>] = [
            Task { _ = try await control.tasks() },
            Task { try await control.setSchedule(RateSchedule()) },
            Task { try await control.change([task.id], .pause) },
            Task { try await control.stop() },
            Task { try await task.resume() },
            Task { _ = try await session.tasks() },
        ]
        // The session's attach is one more.
        await daemon.calls.wait { $0.count == asking.count + 1 }
        stops.add(true)
        let process = getpid()
        let words = "(process \(process)) does not answer; stop it with 'kill -9 \(process)'"
        for call in asking {
            guard case .failure(let error as TransferError) = await call.result else {
                Issue.record("a call was answered")
                continue
            }
            #expect(error.code == .timedOut && error.message.hasSuffix(words), "\(error)")
        }
        stops.add(false)
        daemon.decide { _ in .answered }
        try await task.resume()
        #expect(try await control.tasks().map(\.id) == [task.id])
        let submitted = daemon.calls.entries.flatMap { call in
            if case .submit(_, let submissions) = call { submissions.map(\.id) } else { [BackgroundTask.ID]() }
        }
        #expect(submitted == [task.id, task.id])
        // The lost stop had a connection of its own.
        #expect(daemon.connections.entries.count { $0 } == 3)
    }

    @Test("a socket with a full queue of connections delays only callers that wait")
    func full() async throws {
        let folder = TemporaryFolder()
        let service = BackgroundService(folder: folder.path, command: [])
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let lock = try #require(try DaemonLock.take(service.lockPath))
        defer { for descriptor in [listener, lock] { close(descriptor) } }
        let address = try UnixAddress(service.socketPath)
        try #require(unsafe address.withPointer { unsafe bind(listener, $0, $1) } == 0 && listen(listener, 1) == 0)
        var kept: [FrameConnection] = []
        while kept.count < 100, let next = try? FrameConnection.connect(to: service.socketPath, waiting: 0) {
            kept.append(next)
        }
        let error = await failure { () async throws(TransferError) in
            try FrameConnection.connect(to: service.socketPath, waiting: 0)
        }
        #expect(error?.code == .timedOut)
        #expect(WarmConnections.find(service) == nil)
        let waited = await failure { () async throws(TransferError) in
            try FrameConnection.connect(to: service.socketPath, waiting: 1)
        }
        #expect(waited?.code == .timedOut)
    }

    @Test("a call that is too long is an error, and the connection stays")
    func tooLarge() async throws {
        let daemon = FakeDaemon()
        let control = try await daemon.control()
        let large = BackgroundRequest(.custom(kind: "test", payload: [UInt8](repeating: 0, count: 1 << 20)))
        let error = await failure { () async throws(TransferError) in
            try await control.submit(Array(repeating: large, count: 17), identifier: "photos")
        }
        #expect(error?.code == .bodyTooLarge)
        #expect(try await control.tasks() == [])
        #expect(daemon.connections.entries == [true])
    }
}

import Glibc
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct DaemonTests {
        /// Calls a daemon, and reads until the answer comes.
        private func ask(_ connection: FrameConnection, _ call: DaemonCall) async throws -> DaemonAnswer? {
            try await BackgroundThread.run { () -> Result<DaemonAnswer?, TransferError> in
                do throws(TransferError) {
                    try connection.send(.call(number: 7, call))
                    while let frame = try connection.receive() {
                        if case .answer(7, let answer) = frame { return .success(answer) }
                    }
                    return .success(nil)
                } catch { return .failure(error) }
            }.get()
        }

        private func greeted(_ service: BackgroundService) async throws -> FrameConnection {
            let connection = try #require(try FrameConnection.connect(to: service.socketPath))
            let answer = try await ask(connection, .hello(version: DaemonFrame.version))
            #expect(answer == .hello(version: DaemonFrame.version, process: getpid()))
            return connection
        }

        private static let hello = DaemonFrame.call(number: 1, .hello(version: DaemonFrame.version)).onWire
        private static let helloAnswer = DaemonFrame.answer(
            number: 1, .hello(version: DaemonFrame.version, process: getpid())
        ).onWire

        private func work(_ payload: [UInt8] = []) -> BackgroundRequest {
            BackgroundRequest(.custom(kind: "count", payload: payload))
        }

        @Test("a second daemon ends at once, and only the user can access the first one's socket and folder")
        func second() async throws {
            let folder = TemporaryFolder()
            // The remains of a killed daemon.
            let left = TemporaryFolder.entries(folder.path)
            #expect(left.isEmpty)
            try await withDaemon(folder) { daemon in
                try await BackgroundDaemon(daemon.service).run()
                var status = stat()
                #expect(unsafe stat(daemon.service.folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
                #expect(unsafe stat(daemon.service.socketPath, &status) == 0 && status.st_mode & 0o777 == 0o600)
                _ = try await greeted(daemon.service)
            }
            #expect(!TemporaryFolder.entries(folder.file("daemon")).contains("daemon.sock"))
        }

        @Test("a client that sends invalid bytes is disconnected, and others are not affected")
        func damaged() async throws {
            let folder = TemporaryFolder()
            try await withDaemon(folder) { daemon in
                let other = try await greeted(daemon.service)
                let frames: [[UInt8]] = [
                    [0xFF, 0xFF, 0xFF, 0xFF], [4, 0, 0, 0, 9, 9, 9, 9],
                    DaemonFrame.answer(number: 1, .done).onWire, DaemonFrame.call(number: 1, .list).onWire,
                ]
                for bytes in frames {
                    let isEnded = await BackgroundThread.run { () -> Bool in
                        guard let raw = RawUnix(daemon.service.socketPath) else { return false }
                        raw.send(bytes)
                        return raw.receive().isEmpty
                    }
                    #expect(isEnded, "\(bytes)")
                }
                // Half a message that is never completed, and one that comes byte by byte.
                let half = try #require(RawUnix(daemon.service.socketPath))
                half.send([200, 0, 0, 0, 1, 2, 3])
                let slow = try #require(RawUnix(daemon.service.socketPath))
                for byte in Self.hello { slow.send([byte]) }
                let answer = await BackgroundThread.run { slow.receive() }
                #expect(answer == Self.helloAnswer)
                #expect(try await ask(other, .list) == .tasks([]))
                let old = try #require(try FrameConnection.connect(to: daemon.service.socketPath))
                guard case .refused("daemonUnavailable", _) = try await ask(old, .hello(version: 0)) else {
                    Issue.record("another version was taken")
                    return
                }
            }
        }

        @Test("calls of a client that reads no answers wait, and others are served")
        func greedy() async throws {
            let folder = TemporaryFolder()
            try await withDaemon(folder) { daemon in
                daemon.works["count"] = Counting { _ in try await Task.sleep(for: .seconds(600)) }
            } _: { daemon in
                let control = try await daemon.control()
                let request = BackgroundRequest(.custom(kind: "count", payload: noise(20_000)))
                _ = try await control.submit(Array(repeating: request, count: 10), identifier: "test")
                let greedy = try #require(RawUnix(daemon.service.socketPath))
                greedy.send(Self.hello)
                greedy.send(DaemonFrame.call(number: 2, .watch).onWire)
                // Each answer is 200 KB long, more than the socket's buffer holds.
                let list = DaemonFrame.call(number: 3, .list).onWire
                let most = 100_000
                let taken = greedy.sendWhatIsTaken(Array(repeating: list, count: most / list.count).flatMap { $0 })
                #expect(taken > 0)
                let count = try await control.tasks().count
                #expect(count == 10)
                let begin = await BackgroundThread.run { greedy.receive() }
                #expect(begin.starts(with: Self.helloAnswer))
            }
        }

        @Test("a client that uses a relayed request's number again is disconnected")
        func reusedNumber() async throws {
            let folder = TemporaryFolder()
            let gate = Gate()
            let server = try FaultServer { _, _ in
                gate.pass()
                return .close
            }
            defer { server.stop() }
            try await withDaemon(folder) { daemon in
                let client = try await greeted(daemon.service)
                let request = RelayedRequest(
                    request: server.request(), timeoutForRequest: 60_000,
                    maximumResponseBytes: 1000, certificateAuthorityFile: nil, pinnedKeys: [])
                let frame = DaemonFrame.call(number: 9, .relay(request))
                let isEnded = try await BackgroundThread.run { () -> Result<Bool, TransferError> in
                    do throws(TransferError) {
                        try client.send(frame)
                        try client.send(frame)
                        return .success(try client.receive() == nil)
                    } catch { return .failure(error) }
                }.get()
                #expect(isEnded)
                gate.open()
            }
        }

        @Test("an identifier belongs to one connection until that ends")
        func attach() async throws {
            let folder = TemporaryFolder()
            try await withDaemon(folder) { daemon in
                let first = try await greeted(daemon.service)
                let second = try await greeted(daemon.service)
                #expect(try await ask(first, .attach(identifier: "a")) == .done)
                guard case .refused("identifierInUse", _) = try await ask(second, .attach(identifier: "a")) else {
                    Issue.record("two have the identifier")
                    return
                }
                #expect(try await ask(second, .attach(identifier: "b")) == .done)
                guard case .refused("badConfiguration", _) = try await ask(second, .attach(identifier: "a\n")) else {
                    Issue.record("that is no identifier")
                    return
                }
                first.finishSending()
                try await eventually("the identifier is free") {
                    try await ask(second, .attach(identifier: "a")) == .done
                }
            }
        }

        @Test("a task is recorded once, however often it is submitted")
        func repeated() async throws {
            let folder = TemporaryFolder()
            let gate = Gate()
            try await withDaemon(folder) { daemon in
                daemon.works["count"] = Counting { _ in gate.pass() }
            } _: { daemon in
                let client = try await greeted(daemon.service)
                let submission = Submission(id: .random(), request: work())
                for _ in 0..<2 {
                    let answer = try await ask(
                        client, .submit(identifier: "test", [submission, submission]))
                    guard case .tasks(let tasks) = answer else {
                        Issue.record("\(String(describing: answer))")
                        return
                    }
                    #expect(tasks.map(\.id) == [submission.id, submission.id])
                }
                #expect(try await daemon.control().tasks().count == 1)
                var other = submission
                other.id = .random()
                other.request.work = .custom(kind: "unknown", payload: [])
                guard case .refused("badRequest", _) = try await ask(client, .submit(identifier: "test", [other]))
                else {
                    Issue.record("work of an unknown kind was taken")
                    return
                }
                gate.open()
                _ = try await daemon.finished(submission.id, try await daemon.control())
            }
        }

        @Test("the next daemon continues custom work from its checkpoint")
        func custom() async throws {
            let folder = TemporaryFolder()
            let steps = Log<UInt8>()
            var id: BackgroundTask.ID?
            try await withDaemon(folder) { daemon in
                daemon.works["count"] = Counting { step in
                    steps.add(step)
                    if step == 3 { try await Task.sleep(for: .seconds(600)) }
                }
            } _: { daemon in
                let control = try await daemon.control()
                id = try await control.submit([work([5])], identifier: "test").first?.id
                await steps.wait { $0.contains(3) }
                let status = try await daemon.status(of: try #require(id), control) { $0.bytes == 3 }
                #expect(status?.total == 5 && status?.state == .running)
            }
            try await withDaemon(folder) { daemon in
                daemon.works["count"] = Counting { steps.add($0) }
            } _: { daemon in
                let status = try await daemon.finished(try #require(id), try await daemon.control())
                #expect(status.result?.bytes == [5] && status.bytes == 5)
            }
            #expect(steps.entries == [0, 1, 2, 3, 3, 4])
        }

        @Test(
            "a POST whose status is damaged fails for good and is not sent, and clients of later daemons see that too")
        func damagedStatus() async throws {
            let home = TemporaryFolder()
            let folder = try TaskFolder(RunningDaemon.service(home).folder)
            let request = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:9", path: "/")
            // So old that a failure without a time of its own would be forgotten at once.
            let task = BackgroundStatus(
                .init(number: 7), "test", BackgroundRequest(.upload(request, file: "/nonexistent")), at: 7)
            try folder.record([task])
            _ = home.write("daemon/\(task.id).state", [1])
            var ends: [BackgroundStatus] = []
            for number in 1...3 {
                try await withDaemon(home) { daemon in
                    let end = try #require(try await daemon.control().tasks().first)
                    #expect(end.state == .failed && end.failure == .interrupted && end.attempt == 0)
                    #expect(end.sequence > 0 && end.changed > 7)
                    if number == 1 { await daemon.told.wait { $0.map(\.id) == [task.id] } }
                    ends.append(end)
                }
                let loaded = try folder.load()
                #expect(loaded.tasks.map(\.state) == [.failed] && loaded.damage.isEmpty)
            }
            #expect(Set(ends).count == 1)
            #expect(home.read("daemon/damaged/\(task.id).state") == [1])
        }

        @Test("a change is answered when its task has stopped, and is kept when the daemon ends before")
        func stillness() async throws {
            let folder = TemporaryFolder()
            let (begun, release) = (Log<UInt8>(), Log<Void>())
            /// Takes its time to stop.
            let stubborn = Counting { step in
                begun.add(step)
                await Task.detached { await release.wait { !$0.isEmpty } }.value
                try Task.checkCancellation()
            }
            try await withDaemon(folder) { daemon in
                daemon.works["count"] = stubborn
                daemon.longestStop = .seconds(600)
            } _: { daemon in
                let control = try await daemon.control()
                let ids = try await control.submit([work([1]), work([1])], identifier: "test").map(\.id)
                await begun.wait { $0.count == 2 }
                async let held = control.change([ids[0]], .pause)
                async let cancelled = control.change([ids[1]], .cancel)
                // The files that a kill would leave now.
                try await eventually("both are on disk") {
                    (try? TaskFolder(daemon.service.folder).load())?.tasks.map(\.state) == [.paused, .failed]
                }
                #expect(try await control.tasks().map(\.state) == [.running, .running])
                let other = try await daemon.control()
                async let stopped: Void = other.stop()
                release.add(())
                let paused = try await held
                #expect(paused.map(\.state) == [.paused])
                let end = try await cancelled
                #expect(end.map(\.state) == [.failed] && end.first?.failure?.code == "cancelled")
                try await stopped
            }
            try await withDaemon(folder) { daemon in
                daemon.works["count"] = stubborn
            } _: { daemon in
                let control = try await daemon.control()
                #expect(try await control.tasks().map(\.state) == [.paused, .failed])
            }
        }

        @Test("a change of a task that does not stop is answered in the end, and survives a kill")
        func unstoppable() async throws {
            let folder = TemporaryFolder()
            let (begun, release) = (Log<UInt8>(), Log<Void>())
            try await withDaemon(folder) { daemon in
                daemon.longestStop = .milliseconds(10)
                daemon.works["count"] = Counting { step in
                    begun.add(step)
                    await Task.detached { await release.wait { !$0.isEmpty } }.value
                }
            } _: { daemon in
                let control = try await daemon.control()
                let id = try #require(try await control.submit([work([1])], identifier: "test").first).id
                await begun.wait { !$0.isEmpty }
                let held = try await control.change([id], .pause)
                #expect(held.map(\.state) == [.running])
                let onDisk = try TaskFolder(daemon.service.folder).load().tasks.map(\.state)
                #expect(onDisk == [.paused])
                release.add(())
                #expect(try await daemon.finished(id, control).state == .done)
            }
        }

        @Test("more tasks than fit into one message are listed in their order, and forgotten")
        func many() async throws {
            let folder = TemporaryFolder()
            try await withDaemon(folder) { daemon in
                daemon.works["count"] = Counting { _ in }
            } _: { daemon in
                let control = try await daemon.control()
                try await control.setSchedule(RateSchedule(otherwise: 0))
                let request = work([UInt8](repeating: 1, count: 1 << 20))
                var all: [BackgroundStatus] = []
                for _ in 0..<3 {
                    all += try await control.submit(Array(repeating: request, count: 6), identifier: "test")
                }
                #expect(all.reduce(0) { $0 + $1.encoded.count } > DaemonFrame.limit)
                #expect(try await control.tasks() == all)
                let cancelled = try await control.change(all.map(\.id), .cancel)
                #expect(cancelled.map(\.id) == all.map(\.id) && cancelled.allSatisfy { $0.state == .failed })
                #expect(try await control.change(all.map(\.id), .forget) == [])
                #expect(try await control.tasks() == [])
            }
        }

        @Test("a schedule of 0 pauses tasks, and the next one continues them")
        func held() async throws {
            let folder = TemporaryFolder()
            try await withDaemon(folder) { daemon in
                daemon.works["count"] = Counting { _ in }
            } _: { daemon in
                let control = try await daemon.control()
                try await control.setSchedule(RateSchedule(otherwise: 0))
                let id = try #require(try await control.submit([work([1])], identifier: "test").first).id
                #expect(try await control.tasks().map(\.state) == [.waiting])
                try await control.setSchedule(RateSchedule(otherwise: 1 << 30))
                #expect(try await daemon.finished(id, control).state == .done)
                #expect(try await control.schedule() == RateSchedule(otherwise: 1 << 30))
            }
        }

        @Test("an idle daemon ends after its time, and a stopped one at once")
        func ends() async throws {
            let folder = TemporaryFolder()
            var idle = BackgroundDaemon(RunningDaemon.service(folder))
            idle.idleTimeout = .milliseconds(1)
            try await idle.run()
            #expect(try FrameConnection.connect(to: idle.service.socketPath) == nil)
            let asked = try await RunningDaemon(folder)
            try await asked.control().stop()
            try await asked.ended()
        }

        @Test("a folder that cannot be used is an error")
        func folders() async throws {
            let folder = TemporaryFolder()
            let file = folder.write("file", [])
            for path in [file, "relative", folder.file(String(repeating: "x", count: 120))] {
                let error = await failure { () async throws(TransferError) in
                    try await BackgroundDaemon(BackgroundService(folder: path, command: [])).run()
                }
                #expect(error?.code == .badConfiguration, "\(path)")
            }
        }
    }
}

/// Does the number of steps in its payload, and saves each as its checkpoint.
private struct Counting: BackgroundWork {
    var step: @Sendable (UInt8) async throws -> Void

    func run(_ payload: [UInt8], _ context: WorkContext) async throws -> BackgroundResult {
        let count = payload.first ?? 0
        for number in (context.checkpoint?.first ?? 0)..<max(count, 1) {
            try await step(number)
            try context.save(checkpoint: [number + 1])
            context.report(bytes: Int64(number) + 1, total: Int64(count))
        }
        return BackgroundResult(bytes: [count])
    }

    func discard(_ id: BackgroundTask.ID, _ payload: [UInt8], checkpoint: [UInt8]?) async {}
}

/// A connection to a Unix socket for arbitrary bytes.
private final class RawUnix: Sendable {
    private let descriptor: Int32

    init?(_ path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard let address = try? UnixAddress(path),
            unsafe address.withPointer({ unsafe connect(descriptor, $0, $1) }) == 0
        else { return nil }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) { unsafe _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// Sends until the socket's buffer is full; returns the number of bytes sent.
    func sendWhatIsTaken(_ bytes: [UInt8]) -> Int {
        unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }

    /// The next bytes; empty at the end.
    func receive() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        return Array(buffer.prefix(max(count, 0)))
    }
}

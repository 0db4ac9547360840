import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

/// Work that is done when the test opens its gate, in whichever daemon.
private final class HeldWork: BackgroundWork {
    private let isFree = Mutex(false)

    func release() { isFree.withLock { $0 = true } }

    func run(_ payload: [UInt8], _ context: WorkContext) async throws -> BackgroundResult {
        try await eventually("the gate opens") { isFree.withLock { $0 } }
        return BackgroundResult(bytes: payload)
    }

    func discard(_ id: BackgroundTask.ID, _ payload: [UInt8], checkpoint: [UInt8]?) async {}
}

extension Live {
    @Suite("Background sessions and a real daemon")
    struct BackgroundLiveTests {
        private func session(
            _ daemon: RunningDaemon, _ identifier: String = "photos"
        ) async throws(TransferError) -> BackgroundSession {
            try await BackgroundSession(configuration: .init(identifier: identifier, service: daemon.service))
        }

        /// The events of a new session before caughtUp.
        private func missed(_ daemon: RunningDaemon) async throws -> [BackgroundEvent] {
            let session = try await session(daemon)
            var all: [BackgroundEvent] = []
            for await event in session.events {
                if event == .caughtUp { break }
                all.append(event)
            }
            await session.invalidate()
            return all
        }

        @Test("a download and an upload are done, and their results are reported once")
        func transfers() async throws {
            let folder = TemporaryFolder()
            let server = try FaultServer.echo()
            defer { server.stop() }
            try await withDaemon(folder) { daemon in
                let session = try await session(daemon)
                let download = session.downloadTask(server.request(), to: folder.file("copy"))
                let upload = session.uploadTask(
                    server.request(.put), fromFile: folder.write("photo", [UInt8](repeating: 7, count: 1000)))
                async let updates = upload.updates.reduce(into: []) { $0.append($1.state) }
                for task in [download, upload] { try await task.resume() }
                #expect(try await download.value.file == folder.file("copy"))
                #expect(folder.read("copy") == Array("0".utf8))
                #expect(try await upload.value == BackgroundResult(status: 200, bytes: Array("1000".utf8)))
                #expect(await updates.last == .done)
                #expect(try await session.tasks().isEmpty)
                await session.invalidate()
                #expect(try await missed(daemon) == [])
            }
        }

        @Test("a session follows its tasks from one daemon to the next")
        func restarts() async throws {
            let folder = TemporaryFolder()
            let work = HeldWork()
            var daemon = try await RunningDaemon(folder) { $0.works["held"] = work }
            let session = try await session(daemon)
            let task = session.workTask("held", payload: [1, 2])
            try await task.resume()
            let told = Log<BackgroundEvent>()
            let reading = Task {
                for await event in session.events { told.add(event) }
            }
            await told.wait { $0.contains(.caughtUp) }
            for _ in 0..<3 {
                try await daemon.stop()
                daemon = try await RunningDaemon(folder) { $0.works["held"] = work }
                try await task.setPriority(.high)
                try await task.setPriority(.low)
            }
            work.release()
            #expect(try await task.value.bytes == [1, 2])
            await told.wait { if case .finished? = $0.last { true } else { false } }
            #expect(told.entries.count { $0 == .caughtUp } == 1)
            #expect(told.entries.count { if case .finished = $0 { true } else { false } } == 1)
            await session.invalidate()
            await reading.value
            #expect(try await missed(daemon) == [])
            try await daemon.stop()
        }

        @Test("a program that starts again gets an end until it has taken it")
        func comesBack() async throws {
            let folder = TemporaryFolder()
            let work = HeldWork()
            try await withDaemon(folder, { $0.works["held"] = work }) { daemon in
                let id: BackgroundTask.ID
                do {
                    let session = try await session(daemon)
                    let task = session.workTask("held", payload: [3])
                    try await task.resume()
                    id = task.id
                }
                work.release()
                await daemon.told.wait { $0.contains { $0.id == id } }
                do {
                    var events = try await session(daemon).events.makeAsyncIterator()
                    guard case .finished(let status) = await events.next() else {
                        throw TransferError(.other, "another event")
                    }
                    #expect(status.id == id && status.result?.bytes == [3])
                }
                #expect(try await missed(daemon).count == 1)
                #expect(try await missed(daemon) == [])
            }
        }

        @Test("an identifier belongs to one session, whichever daemon runs")
        func inUse() async throws {
            let folder = TemporaryFolder()
            try await withDaemon(folder) { daemon in
                let first = try await session(daemon)
                let error = await failure { () async throws(TransferError) in try await session(daemon) }
                #expect(error?.code == .identifierInUse)
                await first.invalidate()
                await (try session(daemon)).invalidate()
            }
        }

        @Test("work that cannot be recorded is an error and leaves nothing")
        func refused() async throws {
            let folder = TemporaryFolder()
            let server = try FaultServer.echo()
            defer { server.stop() }
            try await withDaemon(folder) { daemon in
                let session = try await session(daemon)
                let tasks = [
                    session.downloadTask(server.request(), to: "copy"),
                    session.downloadTask(server.request(.get, "/", [.authorization: "Bearer x"]), to: folder.file("a")),
                    session.uploadTask(server.request(.put), fromFile: folder.file("nothing")),
                    session.workTask("nobody", payload: []),
                ]
                for task in tasks {
                    let error = await failure { () async throws(TransferError) in try await task.resume() }
                    #expect(
                        error?.code == .badRequest || error?.code == .fileUnreadable, "\(String(describing: error))")
                    #expect(error?.message.contains("Bearer x") != true)
                }
                let control = try await daemon.control()
                let unknown = await failure { () async throws(TransferError) in
                    try await control.change([.random()], .pause)
                }
                #expect(unknown?.code == .unknownTask)
                #expect(try await control.tasks().isEmpty)
                await session.invalidate()
            }
        }

        @Test("stop returns when the daemon has ended, and the next one continues a paused task")
        func stop() async throws {
            let folder = TemporaryFolder()
            let work = HeldWork()
            let first = try await RunningDaemon(folder) { $0.works["held"] = work }
            let control = try await first.control()
            let task = try #require(
                try await control.submit(
                    [BackgroundRequest(.custom(kind: "held", payload: [4]))], identifier: "photos"
                ).first)
            try await control.change([task.id], .pause)
            _ = try await first.status(of: task.id, control) { $0.state == .paused }
            try await control.stop()
            try await first.ended()
            #expect(try FrameConnection.connect(to: first.service.socketPath) == nil)
            try await withDaemon(folder, { $0.works["held"] = work }) { daemon in
                let session = try await session(daemon)
                let again = try #require(try await session.tasks().first)
                #expect(again.id == task.id && again.status?.state == .paused)
                work.release()
                try await again.resume()
                #expect(try await again.value.bytes == [4])
                await session.invalidate()
            }
        }
    }
}

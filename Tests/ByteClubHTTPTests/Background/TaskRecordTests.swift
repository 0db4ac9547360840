import Glibc
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    /// A daemon's files at moments when they matter.
    @Suite struct TaskRecordTests {
        @Test("a task that is recorded again while its remains are removed stays on disk, and begins afterwards")
        func anew() async throws {
            let folder = TemporaryFolder()
            let work = Failing()
            try await withDaemon(folder, { $0.works = ["failing": work] }) { daemon in
                let session = try await BackgroundSession(
                    configuration: .init(identifier: "test", service: daemon.service))
                let task = session.workTask("failing", payload: [])
                try await task.resume()
                _ = try? await task.value
                // Its end was taken, so this records it again.
                await work.said.wait { $0 == ["run", "discard"] }
                try await task.resume()
                let path = daemon.service.folder + "/\(task.id)"
                #expect(unsafe access(path + ".task", F_OK) == 0)
                work.gate.open()
                await work.said.wait { $0.count == 4 }
                #expect(work.said.entries == ["run", "discard", "discarded", "run"])
                // By now the daemon has also handled the end of the removal.
                let control = try await daemon.control()
                #expect(try await control.tasks().map(\.state) == [.running])
                #expect(unsafe access(path + ".task", F_OK) == 0 && access(path + ".state", F_OK) == 0)
                #expect(unsafe access(path + ".checkpoint", F_OK) != 0)
                await session.invalidate()
            }
        }

        @Test("an upload that never began when the daemon was stopped waits for the next one")
        func neverSent() async throws {
            let folder = TemporaryFolder()
            let server = try FaultServer.echo()
            defer { server.stop() }
            let configure: (inout BackgroundDaemon) -> Void = { daemon in
                daemon.works = ["stubborn": Stubborn()]
                daemon.maximumTasks = 1
            }
            let first = try await RunningDaemon(folder, configure)
            let control = try await first.control()
            let ids = try await control.submit(
                [
                    BackgroundRequest(.custom(kind: "stubborn", payload: [])),
                    BackgroundRequest(.upload(server.request(.post), file: folder.write("f", [1, 2, 3]))),
                ], identifier: "test"
            ).map(\.id)
            await control.close()
            try await first.stop()
            let loaded = try TaskFolder(first.service.folder).load().tasks
            #expect(loaded.filter { $0.id == ids[1] }.map(\.state) == [.waiting])
            #expect(loaded.filter { $0.id == ids[0] }.map(\.state) == [.done])
            try await withDaemon(folder, configure) { second in
                let control = try await second.control()
                let status = try await second.finished(ids[1], control)
                #expect(status.state == .done && server.requests.count == 1)
            }
        }

        @Test("an upload that must not be sent twice is not sent while its start cannot be saved")
        func unnoted() async throws {
            let folder = TemporaryFolder()
            let server = try FaultServer.echo()
            defer { server.stop() }
            try await withDaemon(folder) { daemon in
                let control = try await daemon.control()
                try await control.setSchedule(RateSchedule(otherwise: 0))
                let file = folder.write("f", [1, 2, 3])
                let id = try #require(
                    try await control.submit(
                        [BackgroundRequest(.upload(server.request(.post), file: file))], identifier: "test"
                    ).first
                ).id
                // A folder in the place of a file cannot be replaced by one.
                let state = daemon.service.folder + "/\(id).state"
                _ = unsafe unlink(state)
                #expect(unsafe mkdir(state, 0o700) == 0)
                try await control.setSchedule(RateSchedule())
                let failed = try await daemon.status(of: id, control) { $0.failure != nil }
                #expect(failed?.state == .waiting && failed?.failure?.code == "cannotWriteFile")
                #expect(server.requests.isEmpty)
                #expect(unsafe rmdir(state) == 0)
                let status = try await daemon.finished(id, control)
                #expect(status.state == .done && server.requests.count == 1)
            }
        }
    }
}

/// Fails the first time, and is slow to remove its remains.
private final class Failing: BackgroundWork {
    let said = Log<String>()
    let gate = Gate()

    func run(_ payload: [UInt8], _ context: WorkContext) async throws -> BackgroundResult {
        let isFirst = said.entries.isEmpty
        said.add("run")
        if isFirst {
            try context.save(checkpoint: [1])
            throw BackgroundFailure(code: "broken", message: "it broke")
        }
        try await Task.sleep(for: .seconds(600))
        return BackgroundResult()
    }

    func discard(_ id: BackgroundTask.ID, _ payload: [UInt8], checkpoint: [UInt8]?) async {
        said.add("discard")
        await BackgroundThread.run { [gate] in gate.pass() }
        said.add("discarded")
    }
}

/// Is done when it is cancelled.
private struct Stubborn: BackgroundWork {
    func run(_ payload: [UInt8], _ context: WorkContext) async throws -> BackgroundResult {
        try? await Task.sleep(for: .seconds(600))
        return BackgroundResult()
    }

    func discard(_ id: BackgroundTask.ID, _ payload: [UInt8], checkpoint: [UInt8]?) async {}
}

import Glibc
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct DownloadWorkTests {
        private static let file = VersionedFile.first

        private func names(_ folder: TemporaryFolder) -> [String] { folder.names.filter { $0 != "daemon" } }

        @Test("a download's file exists when the task is done, and the program is notified once")
        func done() async throws {
            let server = try FaultServer { peer, request in Self.file.answer(request, to: peer) }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withDaemon(folder) { daemon in
                let status = try await daemon.finish(
                    BackgroundRequest(.download(server.request(), to: folder.file("f"))))
                #expect(status.state == .done && status.bytes == 300_000 && status.total == 300_000)
                #expect(status.result == BackgroundResult(status: 200, file: folder.file("f")))
                #expect(folder.read("f") == Self.file.bytes && names(folder) == ["f"])
                await daemon.told.wait { !$0.isEmpty }
                #expect(daemon.told.entries.map(\.id) == [status.id])
            }
        }

        @Test("the next daemon continues a download in the middle")
        func continued() async throws {
            let server = try Self.file.server(holdingAt: 200_000)
            defer { server.stop() }
            let folder = TemporaryFolder()
            let request = BackgroundRequest(.download(server.request(), to: folder.file("f")))
            var id: BackgroundTask.ID?
            try await withDaemon(folder) { daemon in
                let control = try await daemon.control()
                id = try await control.submit([request], identifier: "test").first?.id
                try await folder.partReached(200_000)
            }
            try await withDaemon(folder) { daemon in
                let status = try await daemon.finished(try #require(id), try await daemon.control())
                #expect(status.state == .done)
            }
            #expect(server.requests.map(\.rangeStart) == [nil, 200_000])
            #expect(folder.read("f") == Self.file.bytes && names(folder) == ["f"])
        }

        @Test("a paused download keeps its bytes, and a cancelled one leaves nothing")
        func pausedAndCancelled() async throws {
            let server = try FaultServer { peer, request in
                _ = Self.file.send(to: peer, cutAt: 100_000)
                peer.waitForEnd()
                return .close
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            let request = BackgroundRequest(.download(server.request(), to: folder.file("f")))
            try await withDaemon(folder) { daemon in
                let control = try await daemon.control()
                let id = try #require(try await control.submit([request], identifier: "test").first).id
                try await folder.partReached(100_000)
                let paused = try await control.change([id], .pause).first
                #expect(paused?.state == .paused && paused?.bytes == 100_000 && paused?.total == 300_000)
                #expect(folder.names.contains { $0.hasPrefix(".byteclub-") })
                try await control.change([id], .cancel)
                let cancelled = try await daemon.finished(id, control)
                #expect(cancelled.failure?.code == "cancelled" && cancelled.bytes == 0)
                try await eventually("the part is gone") { names(folder).isEmpty }
                try await control.change([id], .forget)
                try await eventually("the records are gone") {
                    !TemporaryFolder.entries(daemon.service.folder).contains { $0.hasPrefix("\(id)") }
                }
            }
        }

        @Test("only a killed daemon's parts of downloads that cannot be continued are removed")
        func leftParts() async throws {
            let gate = Gate()
            let server = try FaultServer { peer, request in
                if request.target == "/held" {
                    _ = Self.file.send(to: peer, cutAt: 1000, fields: [])
                    gate.pass()
                    return .close
                }
                return Self.file.send(to: peer, fields: [])
            }
            defer {
                gate.open()
                server.stop()
            }
            let folder = TemporaryFolder()
            var statuses: [BackgroundStatus] = ["f", "g"].map { name in
                BackgroundStatus(
                    .random(), "test", BackgroundRequest(.download(server.request(), to: folder.file(name))),
                    at: Moment.wallMilliseconds)
            }
            let tasks = try TaskFolder(RunningDaemon.service(folder).folder)
            try tasks.record(statuses)
            statuses[0].state = .running
            statuses[1].state = .paused
            for status in statuses { try tasks.save(status) }
            func part(_ name: String) -> String { "\(ResumeRecord.prefix)\(name)\(ResumeRecord.suffix)" }
            let others = [part("1"), part("\(BackgroundTask.ID.random())-1"), part("\(statuses[0].id)")]
            for name in others + statuses.map({ part("\($0.id)-a1") }) { _ = folder.write(name, [1]) }
            try await withDaemon(folder) { daemon in
                let control = try await daemon.control()
                #expect(try await daemon.finished(statuses[0].id, control).state == .done)
                #expect(Set(names(folder)) == Set(others + ["f"]))
                let held = BackgroundRequest(.download(server.request(.get, "/held"), to: folder.file("h")))
                let id = try #require(try await control.submit([held], identifier: "test").first).id
                try await eventually("the part bears its task's ID") {
                    names(folder).contains { $0.hasPrefix("\(ResumeRecord.prefix)\(id)-") }
                }
                try await control.change([id], .cancel)
                #expect(Set(names(folder)) == Set(others + ["f"]))
            }
        }

        @Test("a refused credential is read again once, and is never on disk or in the log")
        func credential() async throws {
            let secret = "c0ffee-\(UInt64.random(in: 0 ... .max))"
            let server = try FaultServer { peer, request in
                guard request["authorization"] == "Bearer \(secret)2" else {
                    return peer.respond(401) ? .keep : .close
                }
                return Self.file.answer(request, to: peer)
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            let asked = Mutex(0)
            var options = BackgroundOptions()
            options.credential = "account"
            let right = BackgroundRequest(.download(server.request(), to: folder.file("f")), options: options)
            options.credential = "other"
            let wrong = BackgroundRequest(.download(server.request(), to: folder.file("g")), options: options)
            try await withDaemon(folder) { daemon in
                daemon.credentials = { name in
                    let count = asked.withLock { count in
                        count += 1
                        return count
                    }
                    return [.authorization: name == "account" ? "Bearer \(secret)\(count)" : "Bearer \(secret)"]
                }
            } _: { daemon in
                let status = try await daemon.finish(right)
                #expect(status.state == .done && asked.withLock { $0 } == 2)
                let refused = try await daemon.finish(wrong)
                #expect(refused.state == .failed && refused.failure?.status == 401 && !folder.names.contains("g"))
                #expect(server.requests.count == 4)
                for name in TemporaryFolder.entries(daemon.service.folder) {
                    let text = folder.read("daemon/\(name)").map { String(decoding: $0, as: UTF8.self) } ?? ""
                    #expect(!text.contains(secret), "\(name)")
                }
            }
        }

        @Test("a request to a busy server is repeated, one for a missing file is not")
        func statuses() async throws {
            let server = try FaultServer { peer, request in
                if request.target == "/none" { return peer.respond(404, "none") ? .keep : .close }
                if request.indexOnConnection == 1 {
                    return peer.respond(503, fields: ["Retry-After: 0"]) ? .keep : .close
                }
                return Self.file.answer(request, to: peer)
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withDaemon(folder) { daemon in
                let busy = try await daemon.finish(
                    BackgroundRequest(.download(server.request(), to: folder.file("f"))))
                #expect(busy.state == .done && busy.attempt == 2)
                let none = try await daemon.finish(
                    BackgroundRequest(.download(server.request(.get, "/none"), to: folder.file("g"))))
                #expect(none.failure?.code == "unacceptableResponse" && none.failure?.status == 404)
                #expect(none.attempt == 1 && names(folder) == ["f"])
            }
        }

        @Test("a file that was complete before the daemon was killed is not downloaded again")
        func published() async throws {
            let server = try FaultServer { peer, request in Self.file.answer(request, to: peer) }
            defer { server.stop() }
            let folder = TemporaryFolder()
            let part = folder.write("\(ResumeRecord.prefix)1\(ResumeRecord.suffix)", Self.file.bytes)
            var status = BackgroundStatus(
                .random(), "test", BackgroundRequest(.download(server.request(), to: folder.file("f"))),
                at: Moment.wallMilliseconds)
            var information = stat()
            #expect(unsafe stat(part, &information) == 0)
            let record = ResumeRecord(
                url: try RequestURL(server.request()), temporary: part, inode: UInt64(information.st_ino),
                count: 1, modified: nil, validator: try #require(Validator(tag: Self.file.tag)),
                representation: Representation(HTTPResponse(status: .ok, headerFields: [.eTag: Self.file.tag])))
            var whole = record
            whole.total = Int64(Self.file.count)
            let mark = try #require(DownloadMark(try ResumeData(bytes: whole.encoded)))
            #expect(unsafe rename(part, folder.file("f")) == 0)
            let tasks = try TaskFolder(RunningDaemon.service(folder).folder)
            try tasks.record([status])
            status.state = .running
            try tasks.save(status)
            try tasks.save(checkpoint: mark.encoded, of: status.id)
            try await withDaemon(folder) { daemon in
                let ended = try await daemon.finished(status.id, try await daemon.control())
                #expect(ended.state == .done && ended.result?.file == folder.file("f"))
                #expect(ended.bytes == whole.total && ended.total == whole.total)
                #expect(server.requests.isEmpty && folder.read("f") == Self.file.bytes)
            }
        }

        @Test("downloads share the daemon's rate")
        func rate() async throws {
            let server = try FaultServer { peer, request in Self.file.answer(request, to: peer) }
            defer { server.stop() }
            let folder = TemporaryFolder()
            let requests = ["f", "g"].map {
                BackgroundRequest(.download(server.request(), to: folder.file($0)))
            }
            try await withDaemon(folder) { daemon in
                let control = try await daemon.control()
                try await control.setSchedule(RateSchedule(otherwise: 600_000))
                let begin = ContinuousClock.now
                for status in try await control.submit(requests, identifier: "test") {
                    #expect(try await daemon.finished(status.id, control).state == .done)
                }
                #expect(begin.duration(to: .now) > .milliseconds(700))
            }
        }
    }
}

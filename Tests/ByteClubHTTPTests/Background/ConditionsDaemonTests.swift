import Glibc
import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    /// Background tasks on networks that they must not use, by what a bus says.
    @Suite struct ConditionsDaemonTests {
        private static let variable = "BYTECLUB_TEST_METERED_DAEMON"

        /// The folder of the daemon that a child process runs; nil in the tests themselves.
        private static var childFolder: String? { unsafe getenv(variable).map { unsafe String(cString: $0) } }

        private func request(_ server: FaultServer, to path: String) -> BackgroundRequest {
            var options = BackgroundOptions()
            options.allowsMetered = false
            return BackgroundRequest(.download(server.request(), to: path), options: options)
        }

        @Test(
            "a daemon holds a task while the network is metered, and does it afterwards",
            .enabled(if: childFolder == nil))
        func holds() async throws {
            try await withBus(.yes) { bus, folder in
                let server = try FaultServer.echo()
                defer { server.stop() }
                try await withDaemon(folder, { $0.conditionsSource = bus.source() }) { daemon in
                    let control = try await daemon.control()
                    let free = BackgroundRequest(.download(server.request(), to: folder.file("free")))
                    let freeID = try #require(try await control.submit([free], identifier: "test").first).id
                    #expect(try await daemon.finished(freeID, control).state == .done)
                    #expect(bus.connections == 0)
                    let held = request(server, to: folder.file("held"))
                    let id = try #require(try await control.submit([held], identifier: "test").first).id
                    let waiting = try await daemon.status(of: id, control) { $0.obstacle != nil }
                    #expect(waiting?.state == .waiting && waiting?.obstacle == .metered)
                    #expect(server.requests.count == 1)
                    bus.change(to: .guessNo)
                    let status = try await daemon.finished(id, control)
                    #expect(status.state == .done && status.obstacle == nil && server.requests.count == 2)
                }
            }
        }

        @Test(
            "a daemon stops a download when the network becomes metered, and continues it where it was",
            .enabled(if: childFolder == nil))
        func interrupts() async throws {
            try await withBus(.no) { bus, folder in
                let file = VersionedFile.first
                let server = try file.server(holdingAt: 200_000)
                defer { server.stop() }
                try await withDaemon(folder, { $0.conditionsSource = bus.source() }) { daemon in
                    let control = try await daemon.control()
                    let work = request(server, to: folder.file("copy"))
                    let id = try #require(try await control.submit([work], identifier: "test").first).id
                    _ = try await daemon.status(of: id, control) { $0.bytes >= 200_000 }
                    bus.change(to: .guessYes)
                    let waiting = try await daemon.status(of: id, control) { $0.obstacle != nil }
                    #expect(waiting?.state == .waiting && waiting?.failure == nil)
                    bus.change(to: .no)
                    #expect(try await daemon.finished(id, control).state == .done)
                    #expect(folder.read("copy") == file.bytes)
                    #expect(server.requests.map(\.rangeStart) == [nil, 200_000])
                }
            }
        }

        @Test(
            "a held task stays held after its daemon was killed, and is done once", .enabled(if: childFolder == nil))
        func killed() async throws {
            try await withBus(.yes) { bus, folder in
                let server = try FaultServer.echo()
                defer { server.stop() }
                let service = RunningDaemon.service(folder)
                // The daemon finds the bus as every program does.
                let variables = ["\(Self.variable)=\(service.folder)", "DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)"]
                func start() async throws -> (ChildProcess, BackgroundControl) {
                    let child = try #require(ChildProcess(running: "ConditionsDaemonTests", variables))
                    try await eventually("the daemon listens") {
                        ((try? FrameConnection.connect(to: service.socketPath)) ?? nil) != nil
                    }
                    return (child, try await BackgroundControl(service, isStarting: false))
                }
                let work = request(server, to: folder.file("held"))
                let (first, control) = try await start()
                defer { first.destroy() }
                let id = try #require(try await control.submit([work], identifier: "test").first).id
                try await eventually("it is held") { try await control.tasks().first?.obstacle == .metered }
                first.destroy()
                #expect(first.wait() & 0x7F == SIGKILL)
                let (second, other) = try await start()
                defer { second.destroy() }
                try await eventually("it is held again") { try await other.tasks().first?.obstacle == .metered }
                #expect(server.requests.isEmpty)
                bus.change(to: .no)
                try await eventually("it is done") { try await other.tasks().first?.state == .done }
                #expect(try await other.tasks().map(\.id) == [id] && server.requests.count == 1)
                try await other.stop()
                #expect(second.wait() == 0)
            }
        }

        @Test("run a daemon until it is ended", .enabled(if: childFolder != nil))
        func child() async throws {
            let folder = try #require(Self.childFolder)
            var daemon = BackgroundDaemon(BackgroundService(folder: folder, command: ["/nonexistent"]))
            var source = ConditionsSource.system
            source.patience = .seconds(60)
            daemon.conditionsSource = source
            try await daemon.run()
        }
    }
}

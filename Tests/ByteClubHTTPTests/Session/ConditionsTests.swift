import Glibc
import HTTPTypes
import Logging
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    /// Tasks on networks that they must not use, by what a bus says.
    struct ConditionsTests {
        private func onNetwork(
            _ metered: BusClient.Cost, _ configure: @escaping (inout SessionConfiguration) -> Void = { _ in },
            _ body: (Session, FaultServer, StandInBus, Log<TaskEvent.Kind>) async throws -> Void
        ) async throws {
            try await withBus(metered) { bus, _ in
                let server = try FaultServer.echo()
                defer { server.stop() }
                let log = EventLog()
                try await withSession {
                    $0.conditionsSource = bus.source()
                    $0.allowsMetered = false
                    $0.waitsForConnectivity = true
                    $0.eventMonitors = [log]
                    configure(&$0)
                } _: { session in
                    try await body(session, server, bus, log.kinds)
                }
            }
        }

        @Test("a task waits while the network is metered, and is sent when it no longer is")
        func waits() async throws {
            for metered: BusClient.Cost in [.yes, .guessYes] {
                try await onNetwork(metered) { session, server, bus, log in
                    let task = session.uploadTask(server.request(.post), from: .bytes([1, 2, 3]))
                    task.resume()
                    await log.wait { $0.contains(.waiting) }
                    #expect(task.state == .running && server.accepts == 0)
                    bus.change(to: .no)
                    let result = try await task.value
                    #expect(result.bytes == Array("3".utf8) && result.metrics.attempts.count == 1)
                    #expect(log.entries.filter { $0 == .waiting }.count == 1)
                }
            }
        }

        @Test("a task on a network that it may use is sent at once")
        func allowed() async throws {
            for metered: BusClient.Cost in [.no, .guessNo] {
                try await onNetwork(metered) { session, server, _, log in
                    for _ in 0..<3 { _ = try await session.data(for: server.request()) }
                    #expect(log.entries.allSatisfy { $0 != .waiting })
                }
            }
            // A guess is not what the user has set.
            try await onNetwork(.guessYes) {
                $0.allowsMetered = true
                $0.allowsConstrained = false
            } _: { session, server, _, _ in
                _ = try await session.data(for: server.request())
            }
        }

        @Test("a task that must not wait fails at once, and a task's own option decides")
        func fails() async throws {
            try await onNetwork(.yes, { $0.waitsForConnectivity = false }) { session, server, bus, log in
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request())
                }
                #expect(error?.code == .networkNotAllowed && error?.message == "the network is metered")
                #expect(server.accepts == 0 && log.entries.allSatisfy { $0 != .waiting })
                var options = TaskOptions()
                options.allowsMetered = true
                _ = try await session.data(for: server.request(), options: options)
                options.allowsConstrained = false
                let other = await failure { [options] () async throws(TransferError) in
                    try await session.data(for: server.request(), options: options)
                }
                #expect(other?.code == .networkNotAllowed && other?.message == "the network is constrained")
                #expect(bus.connections == 1)
            }
        }

        @Test("tasks without restrictions never ask the bus")
        func unrestricted() async throws {
            try await onNetwork(.yes, { $0.allowsMetered = true }) { session, server, bus, _ in
                _ = try await session.data(for: server.request())
                #expect(bus.connections == 0)
            }
        }

        @Test("a waiting task ends with its time, can be cancelled, and can be suspended")
        func ends() async throws {
            try await onNetwork(.yes, { $0.timeoutForResource = .milliseconds(500) }) { session, server, _, _ in
                // On a busy machine the first ones may end before the bus has answered.
                try await eventually("a task ends for want of an allowed network") {
                    let error = await failure { () async throws(TransferError) in
                        try await session.data(for: server.request())
                    }
                    #expect(error?.code == .timedOut && server.accepts == 0)
                    return error?.message == "no allowed network in time: the network is metered"
                }
            }
            try await onNetwork(.yes) { session, server, bus, log in
                let task = session.dataTask(server.request())
                task.resume()
                await log.wait { $0.contains(.waiting) }
                task.suspend()
                bus.change(to: .no)
                await bus.asked(2)
                // The session has the new conditions when this one is done.
                _ = try await session.data(for: server.request())
                #expect(server.requests.count == 1)
                task.resume()
                _ = try await task.value
            }
            try await onNetwork(.yes) { session, server, _, log in
                let task = session.dataTask(server.request())
                task.resume()
                await log.wait { $0.contains(.waiting) }
                task.cancel()
                let error = await failure { () async throws(TransferError) in try await task.value }
                #expect(error?.code == .cancelled && server.accepts == 0)
            }
        }

        @Test("a discretionary task waits for power, whatever else waits")
        func discretionary() async throws {
            let power = TemporaryFolder()
            unsafe mkdir(power.file("BAT0"), 0o755)
            _ = power.write("BAT0/type", Array("Battery\n".utf8))
            _ = power.write("BAT0/status", Array("Discharging\n".utf8))
            try await withBus(.no) { bus, _ in
                let server = try FaultServer.echo()
                defer { server.stop() }
                let log = EventLog()
                try await withSession {
                    $0.conditionsSource = bus.source(power: power.path)
                    $0.isDiscretionary = true
                    $0.eventMonitors = [log]
                } _: { session in
                    let task = session.dataTask(server.request())
                    task.resume()
                    await log.kinds.wait { $0.contains(.waiting) }
                    #expect(server.accepts == 0)
                    _ = power.write("BAT0/status", Array("Charging\n".utf8))
                    _ = try await task.value
                }
            }
        }

        @Test("a download under way is interrupted when the network becomes metered, and continues where it was")
        func interrupted() async throws {
            try await withBus(.no) { bus, folder in
                let file = VersionedFile.first
                let server = try file.server(holdingAt: 200_000)
                defer { server.stop() }
                let log = EventLog()
                try await withSession {
                    $0.conditionsSource = bus.source()
                    $0.allowsMetered = false
                    $0.waitsForConnectivity = true
                    $0.eventMonitors = [log]
                } _: { session in
                    let task = session.downloadTask(server.request(), to: folder.file("copy"))
                    task.resume()
                    for await progress in task.progressUpdates where progress.bytesReceived >= 200_000 { break }
                    bus.change(to: .guessYes)
                    await log.kinds.wait { $0.contains(.waiting) }
                    #expect(server.requests.count == 1)
                    bus.change(to: .guessNo)
                    _ = try await task.value
                    #expect(folder.read("copy") == file.bytes)
                    #expect(server.requests.map(\.rangeStart) == [nil, 200_000])
                }
            }
        }

        @Test("a request that must not be repeated fails when the network becomes metered")
        func unrepeatable() async throws {
            try await withBus(.no) { bus, _ in
                let server = try FaultServer { peer, _ in
                    peer.waitForEnd()
                    return .close
                }
                defer { server.stop() }
                try await withSession {
                    $0.conditionsSource = bus.source()
                    $0.allowsMetered = false
                    $0.waitsForConnectivity = true
                } _: { session in
                    let task = session.uploadTask(server.request(.post), from: .bytes([1]))
                    task.resume()
                    await server.received(1)
                    bus.change(to: .yes)
                    let error = await failure { () async throws(TransferError) in try await task.value }
                    #expect(error?.code == .networkNotAllowed && server.requests.count == 1)
                }
            }
        }

        @Test("a bus that hangs or lies is given up, with one line in the log", arguments: StandInBus.Fault.allCases)
        func faults(_ fault: StandInBus.Fault) async throws {
            try await withBus(.yes, fault) { bus, _ in
                let server = try FaultServer.echo()
                defer { server.stop() }
                let lines = Log<String>()
                let isHanging = [.hangsAtLogin, .hangsAtHello, .hangsAtQuestion].contains(fault)
                try await withSession {
                    $0.conditionsSource = bus.source(patience: isHanging ? .milliseconds(50) : .seconds(60))
                    $0.allowsMetered = false
                    $0.waitsForConnectivity = true
                    $0.logger = Logger(label: "test") { _ in CollectingHandler(lines, from: .warning) }
                } _: { session in
                    // The default route decides.
                    if Connectivity.isMobile { return }
                    for _ in 0..<2 { _ = try await session.data(for: server.request()) }
                }
                let isAnswer = fault == .hasNoNetworkManager || fault == .wrongNumber
                let count = lines.entries.count { $0.hasPrefix("the system's bus cannot be asked") }
                #expect(count == (isAnswer ? 0 : 1) && bus.connections <= 1, "\(fault)")
            }
        }

        @Test("a bus that is gone leaves the decision to the default route until it is back", arguments: [true, false])
        func lost(isRemoved: Bool) async throws {
            try await withBus(.yes) { bus, _ in
                var source = bus.source()
                source.pause = .milliseconds(10)
                let reports = Log<NetworkConditions>()
                let watch = ConditionsWatch(source) { reports.add($0) }
                defer { watch.stop() }
                await reports.wait { $0.last?.isConstrained == true }
                // Otherwise its socket refuses connections.
                if isRemoved { #expect(unsafe unlink(bus.path) == 0) }
                bus.stop()
                await reports.wait { $0.last?.isConstrained == false }
                #expect(reports.entries.last?.isMetered == Connectivity.isMobile)
                if !isRemoved { #expect(unsafe unlink(bus.path) == 0) }
                let next = try #require(StandInBus(bus.path, metered: .yes))
                defer { next.stop() }
                await reports.wait { $0.last?.isConstrained == true }
            }
        }

        @Test("a machine without a bus has its answer at once, and the stream begins with the present conditions")
        func none() async throws {
            let reports = Log<NetworkConditions>()
            let watch = ConditionsWatch(ConditionsSource(bus: "unix:path=/nonexistent/bus")) { reports.add($0) }
            await reports.wait { !$0.isEmpty }
            watch.stop()
            #expect(reports.entries.first?.isMetered == Connectivity.isMobile)
            #expect(reports.entries.first?.isConstrained == false)
            for await conditions in NetworkConditions.changes {
                #expect(await NetworkConditions.current().hasNetwork == conditions.hasNetwork)
                break
            }
        }
    }
}

extension TaskEvent {
    /// The events that these tests look at.
    fileprivate enum Kind { case waiting, other }
}

/// A monitor that writes down which tasks wait.
private final class EventLog: EventMonitor {
    let kinds = Log<TaskEvent.Kind>()

    func receive(_ event: TaskEvent, of task: SessionTask) async {
        if case .waitingForConnectivity = event { kinds.add(.waiting) } else { kinds.add(.other) }
    }
}

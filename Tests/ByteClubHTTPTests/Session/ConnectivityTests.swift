import Glibc
import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    /// Tasks that wait for a network; each test takes the route away in a network of its own, which needs root.
    ///
    /// They run in a process of their own: a thread in another network may start one of the runtime's threads, which
    /// then belongs to that network, too.
    @Suite struct ConnectivityTests {
        private static let variable = "BYTECLUB_NETWORKS"
        private static let role = unsafe getenv(variable).map { unsafe String(cString: $0) }
        static let isTest = role == nil
        static let isChild = role == "short"
        static let isLongChild = role == "long"

        /// A process in which the tests of a role run.
        static func child(_ role: String) throws -> ChildProcess {
            try #require(ChildProcess(running: "ConnectivityTests", ["\(variable)=\(role)"]))
        }

        @Test(
            "in a process of their own, tasks wait for a network",
            .enabled(if: isTest && NetworkNamespace.isPossible))
        func apart() throws {
            let child = try Self.child("short")
            #expect(child.wait() == 0)
        }

        /// A session on a network without an address, a server on that network, and what the session's tasks report.
        private func withoutNetwork(
            _ configure: (inout SessionConfiguration) -> Void = { _ in },
            _ body: (Session, FaultServer, NetworkNamespace, WaitLog) async throws -> Void
        ) async throws {
            let network = try #require(NetworkNamespace())
            let server = try network.run { try FaultServer.echo() }
            defer { server.stop() }
            network.takeAddress()
            let log = WaitLog()
            try await withSession {
                $0.threadPreparation = { network.enter() }
                $0.waitsForConnectivity = true
                // Nothing but a notice can end the wait.
                $0.connectivityDelay = .seconds(3600)
                $0.eventMonitors = [log]
                configure(&$0)
            } _: { session in
                try await body(session, server, network, log)
            }
        }

        @Test(
            "a task without a route waits, and is sent as soon as there is one",
            .enabled(if: isChild))
        func returns() async throws {
            try await withoutNetwork { session, server, network, log in
                let task = session.uploadTask(server.request(.post), from: .bytes([1, 2, 3]))
                task.resume()
                await log.waits(1)
                #expect(task.state == .running && server.accepts == 0)
                network.giveAddress()
                let result = try await task.value
                #expect(result.bytes == Array("3".utf8) && server.requests.count == 1)
                // What failed for lack of a network is no attempt, but its time counts.
                #expect(result.metrics.attempts.count == 1 && result.progress.attempt == 1)
                #expect(log.waiting.entries.count == 1)
            }
        }

        @Test(
            "a task without a route for 30 s tries a few times, fails in none of them, and gets one answer",
            .enabled(if: isLongChild))
        func outage() async throws {
            let firstDelay = SessionConfiguration.ephemeral.connectivityDelay
            try await withoutNetwork({ $0.connectivityDelay = firstDelay }) { session, server, network, log in
                let clock = ContinuousClock()
                let start = clock.now
                let task = session.uploadTask(server.request(.post), from: .bytes([1, 2, 3]))
                task.resume()
                await log.waits(1)
                try await clock.sleep(for: .seconds(30))
                #expect(task.state == .running && server.accepts == 0)
                let tried = log.attempts.entries.count
                // Each pause is twice as long as the one before, so a late sleep allows few more.
                let most = (0..<16).count { firstDelay * ((1 << $0) - 1) <= start.duration(to: clock.now) }
                #expect(tried <= most + 2)
                network.giveAddress()
                let result = try await task.value
                #expect(result.bytes == Array("3".utf8) && server.requests.count == 1)
                #expect(result.metrics.attempts.count == 1 && result.progress.attempt == 1)
                await log.finished.wait { !$0.isEmpty }
                #expect(log.finished.entries == [true] && log.waiting.entries.count == 1)
                // The first notice of the address may come before the route.
                #expect(log.attempts.entries.count <= most + 4 && log.attempts.entries.allSatisfy { $0 == 1 })
            }
        }

        @Test("a task waits for the route to its proxy too", .enabled(if: isChild))
        func proxy() async throws {
            let network = try #require(NetworkNamespace())
            let server = try network.run { try FaultServer.echo() }
            defer { server.stop() }
            network.takeAddress()
            let proxy = try #require(ProxyServer("http://\(server.authority)"))
            let log = WaitLog()
            try await withSession {
                $0.threadPreparation = { network.enter() }
                $0.waitsForConnectivity = true
                $0.connectivityDelay = .seconds(3600)
                $0.eventMonitors = [log]
                $0.proxy = .server(proxy)
            } _: { session in
                let task = session.dataTask(
                    HTTPRequest(method: .get, scheme: "http", authority: "club.test", path: "/"))
                task.resume()
                await log.waits(1)
                network.giveAddress()
                _ = try await task.value
                #expect(server.requests.map(\.target) == ["http://club.test/"])
            }
        }

        @Test(
            "without a default route a task whose host's name cannot be looked up waits, and can be cancelled",
            .enabled(if: isChild))
        func name() async throws {
            let delegate = CallbackLog()
            let network = try #require(NetworkNamespace())
            var id: UInt64 = 0
            try await withSession(
                {
                    $0.threadPreparation = { network.enter() }
                    $0.waitsForConnectivity = true
                    $0.connectivityDelay = .seconds(3600)
                }, delegate: delegate
            ) { session in
                let task = session.dataTask(
                    HTTPRequest(method: .get, scheme: "http", authority: "club.test", path: "/"))
                id = task.id
                task.resume()
                await delegate.log.wait { $0.contains { $0.callback == .waiting } }
                task.cancel()
                let error = await failure { () async throws(TransferError) in try await task.value }
                #expect(error?.code == .cancelled)
            }
            await delegate.ended()
            #expect(
                delegate.callbacks(of: id) == [.waiting, .metrics(attempts: 0), .completed(.cancelled)])
        }

        @Test(
            "a task waits no longer than its time, and one that must not wait fails",
            .enabled(if: isChild))
        func ends() async throws {
            // Long enough for the first attempt to fail on a busy machine.
            try await withoutNetwork({ $0.timeoutForResource = .seconds(5) }) { session, server, _, log in
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request())
                }
                #expect(error?.code == .timedOut && error?.message == "no network in time")
                #expect(log.waiting.entries.count == 1)
            }
            try await withoutNetwork { session, server, _, log in
                var options = TaskOptions()
                options.waitsForConnectivity = false
                let other = await failure { [options] () async throws(TransferError) in
                    try await session.data(for: server.request(), options: options)
                }
                #expect(other?.code == .cannotConnect && other?.errno == ENETUNREACH)
                #expect(log.waiting.entries.isEmpty)
            }
        }

        @Test(
            "a refused connection fails at once, also where tasks wait for a network", .enabled(if: isTest))
        func refused() async throws {
            let server = try FaultServer.echo()
            let request = server.request()
            server.stop()
            let log = WaitLog()
            try await withSession {
                $0.waitsForConnectivity = true
                $0.eventMonitors = [log]
            } _: { session in
                let error = await failure { () async throws(TransferError) in try await session.data(for: request) }
                #expect(error?.code == .cannotConnect && error?.errno == ECONNREFUSED)
            }
            #expect(log.waiting.entries.isEmpty)
        }
    }
}

/// A wait of 30 s in another process, which delays no other test.
struct NetworkOutageTests {
    @Test(
        "in a process of its own, a task waits for 30 s",
        .enabled(if: Live.ConnectivityTests.isTest && NetworkNamespace.isPossible))
    func apart() async throws {
        let child = try Live.ConnectivityTests.child("long")
        defer { child.destroy() }
        try await eventually("the process has ended") { child.hasEnded }
        #expect(child.wait() == 0)
    }
}

/// A monitor that writes down which tasks wait for a network, and what else becomes of them.
private final class WaitLog: EventMonitor {
    let waiting = Log<UInt64>()
    /// The numbers of the attempts.
    let attempts = Log<Int>()
    /// Whether the results are responses.
    let finished = Log<Bool>()

    func receive(_ event: TaskEvent, of task: SessionTask) async {
        switch event {
        case .waitingForConnectivity: waiting.add(task.id)
        case .attemptStarted(let number, _): attempts.add(number)
        case .finished(.success): finished.add(true)
        case .finished(.failure): finished.add(false)
        default: break
        }
    }

    func waits(_ count: Int) async { await waiting.wait { $0.count >= count } }
}

struct ConnectivityRuleTests {
    private struct Case {
        var code: TransferError.Code
        var errno: Int32 = 0
        var phase = TransferError.Phase.connect
        /// Whether the task waits with and without a network.
        var waits: (with: Bool, without: Bool)
    }

    @Test("only the lack of a network makes a task wait")
    func rules() {
        let cases = [
            Case(code: .cannotConnect, errno: ENETUNREACH, waits: (true, true)),
            Case(code: .cannotConnect, errno: ENETDOWN, waits: (true, true)),
            Case(code: .cannotConnect, errno: EHOSTUNREACH, waits: (false, true)),
            // Also the code for a machine that has no free port.
            Case(code: .cannotConnect, errno: EADDRNOTAVAIL, waits: (false, true)),
            Case(code: .cannotConnect, errno: ECONNREFUSED, waits: (false, false)),
            Case(code: .cannotConnect, errno: ENOENT, waits: (false, false)),
            Case(code: .cannotResolveHost, phase: .resolve, waits: (false, true)),
            Case(code: .timedOut, phase: .resolve, waits: (false, true)),
            Case(code: .timedOut, phase: .connect, waits: (false, false)),
            Case(code: .connectionLost, errno: ENETUNREACH, phase: .wait, waits: (false, false)),
            Case(code: .tls, phase: .tls, waits: (false, false)),
            Case(code: .proxyRefused, waits: (false, false)), Case(code: .cancelled, waits: (false, false)),
        ]
        for each in cases {
            var problem = TransferError(each.code, "", phase: each.phase)
            problem.errno = each.errno
            #expect(Connectivity.isMissing(problem, hasNetwork: { true }) == each.waits.with, "\(each)")
            #expect(Connectivity.isMissing(problem, hasNetwork: { false }) == each.waits.without, "\(each)")
        }
    }

    @Test("the devices of default routes are found in the kernel's tables, whatever else they hold")
    func routes() {
        let head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
        let own = "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
        let any = "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
        // A VPN's two halves of the address space are no default route, and neither is one that refuses.
        let half = "tun0\t00000000\t010200C0\t0003\t0\t0\t0\t00000080\t0\t0\t0\n"
        let refusing = "*\t00000000\t00000000\t0201\t0\t0\t0\t00000000\t0\t0\t0\n"
        let zero = String(repeating: "0", count: 32)
        let lost = "\(zero) 00 \(zero) 00 \(zero) ffffffff 00000001 00000000 00200200       lo\n"
        let sixth = "\(zero) 00 \(zero) 00 fe80\(zero.dropFirst(4)) 00000400 00000001 00000000 00000003    wlan0\n"
        let local = "\(zero.dropLast())1 80 \(zero) 00 \(zero) 00000000 00000002 00000000 80200001       lo\n"
        func devices(_ ipv4: String, _ ipv6: String) -> [String] {
            Connectivity.defaultDevices(ipv4: ipv4, ipv6: ipv6)
        }
        #expect(devices(head, "").isEmpty && devices("", "").isEmpty)
        #expect(devices(head + own + half + refusing, lost + local).isEmpty)
        #expect(devices(head + own + any, lost) == ["eth0"])
        #expect(devices(head + any, lost + local + sixth + lost) == ["eth0", "wlan0"])
        #expect(devices(head + "\n\t\t\neth0", "x\n00 00\n").isEmpty)
        #expect(devices(head + any.replacing("eth0", with: "../e"), "").isEmpty)
    }

    @Test("without a network for 30 s there are few attempts, and one follows the network's return at once")
    func thirtySeconds() {
        var now = Moment(nanoseconds: 0)
        let back = now.advanced(by: .seconds(30))
        var wait = ConnectivityWait(firstDelay: .seconds(1), at: now)
        var (attempts, due) = (1, wait.failed(at: now))
        while due < back {
            now = due
            attempts += 1
            due = wait.failed(at: now)
        }
        #expect(attempts == 5 && due > back)
        #expect(wait.networkChanged(isTrying: false, at: back) == back)
        // The first notice may come before the route: the attempt fails, and the next notice is heard.
        due = wait.failed(at: back)
        #expect(due == back.advanced(by: .seconds(1)))
        let next = back.advanced(by: .milliseconds(1))
        #expect(wait.networkChanged(isTrying: false, at: next) == back.advanced(by: ConnectivityWait.leastPause))
        // One that comes during an attempt counts when that has failed.
        _ = wait.networkChanged(isTrying: true, at: next)
        let failed = next.advanced(by: .seconds(1))
        #expect(wait.failed(at: failed) == failed.advanced(by: ConnectivityWait.leastPause))
        #expect(wait.failed(at: failed) == failed.advanced(by: .seconds(1)))
    }

    @Test("delays grow to a minute and no further, and end before the end of time")
    func delays() {
        let start = Moment(nanoseconds: 0)
        var wait = ConnectivityWait(firstDelay: .seconds(1), at: start)
        let delays = (0..<1000).map { _ in start.duration(to: wait.failed(at: start)) }
        #expect(Array(delays.prefix(7)) == [1, 2, 4, 8, 16, 32, 60].map { Duration.seconds($0) })
        #expect(delays.dropFirst(7).allSatisfy { $0 == .seconds(60) })
        var long = ConnectivityWait(firstDelay: .seconds(3600), at: start)
        #expect(start.duration(to: long.failed(at: start)) == .seconds(3600))
        #expect(start.duration(to: long.failed(at: start)) == .seconds(3600))
    }
}

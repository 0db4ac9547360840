import ByteClubCore
import Logging
import ServiceLifecycle
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct MonitorTests {
    @Test("labels and help are escaped as the format says, and buckets add up")
    func format() throws {
        var text = MetricsText()
        var histogram = Histogram()
        for seconds in [0.0001, 0.001, 0.0011, 0.3, 59, 61, 1e9] { histogram.record(seconds) }
        text.metric("a_seconds", .histogram, "One\nline \\ \"quoted\"")
        text.samples("a_seconds", [("x", "a\"b\\c\nd")], histogram)
        text.value("b_total", .counter, "B", 1.5)
        let page = try PrometheusPage(text.text)
        #expect(text.text.hasPrefix("# HELP a_seconds One\\nline \\\\ \"quoted\"\n# TYPE a_seconds histogram\n"))
        let labels = ["x": #"a\"b\\c\nd"#]
        #expect(page.value("a_seconds_bucket", labels.merging(["le": "0.001"]) { $1 }) == 2)
        #expect(page.value("a_seconds_bucket", labels.merging(["le": "60"]) { $1 }) == 5)
        #expect(page.value("a_seconds_count", labels) == 7)
        #expect(page.value("b_total") == 1.5)
    }

    @Test("metrics count requests, bytes, commits and waiting clients, and never go back")
    func metrics() async throws {
        try await TestServer.run { server in
            let monitor = server.club.monitor
            let before = try PrometheusPage(await monitor.metrics())
            for number in 0..<5 { try await server.store("/n\(number).md", String(repeating: "x", count: 100)) }
            _ = try await server.get("/1/files/auto/n1.md")
            _ = try await server.get("/1/metadata/auto/none")
            _ = try await server.send("GET /1/nothing", [])
            let cursor = try await server.post("/1/delta").decoded(DeltaPage.self).cursor
            async let poll = server.send("GET /1/longpoll_delta?cursor=\(cursor)&timeout=480", [])
            try await eventually("a poll waits") { server.store.waiterCount > 0 }
            // A request is counted after its answer, and a connection until both sides have closed it.
            try await eventually("all but the poll is over") {
                monitor.connections.open == 1 && monitor.requests.all.reduce(0) { $0 + $1.series.latency.count } == 9
            }
            let page = try PrometheusPage(await monitor.metrics())
            #expect(page.value("byteclub_longpolls") == 1)
            #expect(page.value("byteclub_connections") == 1)
            try await server.store("/wake.md")
            _ = try await poll
            #expect(page.value("byteclub_requests_total", ["operation": "files_put", "status": "2xx"]) == 5)
            #expect(page.value("byteclub_requests_total", ["operation": "metadata", "status": "4xx"]) == 1)
            #expect(page.value("byteclub_requests_total", ["operation": "none", "status": "4xx"]) == 1)
            #expect(page.value("byteclub_request_body_bytes_total", ["operation": "files_put"]) == 500)
            #expect(page.value("byteclub_response_body_bytes_total", ["operation": "files"]) == 100)
            #expect(page.value("byteclub_request_seconds_count", ["operation": "files_put"]) == 5)
            let changes = (page.value("byteclub_changes_total") ?? 0) - (before.value("byteclub_changes_total") ?? 0)
            #expect(changes == 5)
            #expect(page.value("byteclub_used_bytes") == 500)
            #expect(page.value("byteclub_journal_revision") ?? 0 >= 5)
            #expect(page.value("byteclub_commit_seconds_count") ?? 0 >= 1)
            #expect(page.value("byteclub_received_bytes_total") ?? 0 > 500.0)
            #expect(page.value("process_resident_memory_bytes") ?? 0 > 1e6)
            #expect(page.value("process_open_fds") ?? 0 > 5)
            for sample in before.samples where before.types[sample.name] == "counter" {
                #expect(page.value(sample.name, sample.labels) ?? 0 >= sample.value, "\(sample.name)")
            }
        }
    }

    @Test("the health page tells a disk that takes no writes, a closed database, and a server that stops")
    func health() async throws {
        try await TestServer.run { server in
            #expect(await server.club.monitor.health.problem() == nil)
            let open = OpenConnections(limit: 1)
            let nowhere = HealthCheck(store: server.store, directory: server.directory + "/none", connections: open)
            #expect(await nowhere.problem()?.contains("cannot be written") == true)
            let other = try TemporaryDirectory()
            let closed = try SQLiteStore(
                directory: other.path + "/d", now: { APIDate(seconds: 1) }, logger: Logger(label: "test"))
            let check = HealthCheck(store: closed, directory: other.path, connections: open)
            let start = ContinuousClock.now
            #expect(await check.problem(at: start) == nil)
            try closed.close()
            #expect(await check.problem(at: start + .milliseconds(10)) == nil, "an answer is good for a second")
            let problem = await check.problem(at: ContinuousClock.now + .seconds(3))
            #expect(problem?.contains("database") == true, "\(problem ?? "none")")
            open.beginDraining()
            #expect(await nowhere.problem() == "stopping")
        }
    }

    @Test("the listener of its own answers /healthz and /metrics, and nothing else")
    func listener() async throws {
        try await TestServer.run { server in
            let (urls, listening) = AsyncStream<String>.makeStream()
            let monitor = MonitorServer(
                address: try #require(ListenAddress("127.0.0.1:0")), monitor: server.club.monitor,
                logger: Logger(label: "monitor")
            ) { listening.yield($0) }
            let group = ServiceGroup(
                configuration: .init(services: [.init(service: monitor)], logger: Logger(label: "group")))
            async let running: Void = group.run()
            var starts = urls.makeAsyncIterator()
            let url = try #require(await starts.next())
            let port = try #require(url.split(separator: ":").last.flatMap { UInt16($0) })
            let health = try #require(await RawExchange.send("GET /healthz", port: port))
            #expect(health.status == 200 && health.text == "ok\n")
            let page = try #require(await RawExchange.send("GET /metrics?x=1", port: port))
            #expect(page["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
            _ = try PrometheusPage(page.text)
            #expect(await RawExchange.send("GET /1/account/info", port: port)?.status == 404)
            let wrong = await RawExchange.send("POST /metrics", fields: ["Content-Length: 0"], port: port)
            #expect(wrong?.status == 405 && wrong?["Allow"] == "GET, HEAD")
            #expect(try await server.send("GET /metrics", []).status == 404)
            await group.triggerGracefulShutdown()
            try await running
        }
    }
}

import ByteClubCore
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// The metrics and the health of the server, for an operator's programs.
struct Monitor: Sendable {
    /// The requests.
    let requests: RequestMetrics
    /// The connections.
    let connections: OpenConnections
    /// How often limits were reached.
    let limits: RequestLimits
    /// The resources that requests share.
    let shares: SharedLimits
    /// The club's data.
    let store: any FolderStore & UploadStore
    /// Whether all is well.
    let health: HealthCheck

    /// The page for Prometheus.
    func metrics() async -> String {
        var page = MetricsText()
        write(requests: requests.all, to: &page)
        write(connections: connections, to: &page)
        write(shares: shares.all, to: &page)
        await writeStorage(to: &page)
        let problem = await health.problem()
        page.value("byteclub_healthy", .gauge, "Whether /healthz answers 200.", problem == nil ? 1 : 0)
        page.value("process_resident_memory_bytes", .gauge, "Bytes in memory.", Double(ProcessUsage.residentBytes()))
        page.value("process_cpu_seconds_total", .counter, "Seconds of processor time.", ProcessUsage.processorSeconds())
        page.value("process_open_fds", .gauge, "Open files and connections.", Double(ProcessUsage.openDescriptors()))
        return page.text
    }

    private func write(requests: [(operation: String, series: RequestMetrics.Series)], to page: inout MetricsText) {
        page.metric("byteclub_requests_total", .counter, "Requests answered, by operation and status class.")
        for (operation, series) in requests {
            for (digit, count) in series.classes.enumerated() where count > 0 {
                page.sample(
                    "byteclub_requests_total", [("operation", operation), ("status", "\(digit)xx")], Double(count))
            }
        }
        page.metric("byteclub_request_seconds", .histogram, "Time from a request's head to its answer, by operation.")
        for (operation, series) in requests {
            page.samples("byteclub_request_seconds", [("operation", operation)], series.latency)
        }
        page.values(
            "byteclub_request_body_bytes_total", .counter, "Bytes of bodies received, by operation.", by: "operation",
            requests.map { ($0.operation, Double($0.series.received)) })
        page.values(
            "byteclub_response_body_bytes_total", .counter, "Bytes of bodies sent, by operation.", by: "operation",
            requests.map { ($0.operation, Double($0.series.sent)) })
    }

    private func write(connections: OpenConnections, to page: inout MetricsText) {
        let totals = connections.totals
        page.value("byteclub_connections", .gauge, "Open connections.", Double(connections.open))
        page.value("byteclub_connections_limit", .gauge, "Connections served at once.", Double(connections.limit))
        page.value(
            "byteclub_connections_refused_total", .counter, "Connections over the limit.", Double(totals.refused))
        page.value(
            "byteclub_connections_displaced_total", .counter, "Idle connections that gave their place to others.",
            Double(totals.displaced))
        page.value("byteclub_received_bytes_total", .counter, "Bytes received, all included.", Double(totals.received))
        page.value("byteclub_sent_bytes_total", .counter, "Bytes sent, all included.", Double(totals.sent))
        let refusals = limits.refusals
        page.values(
            "byteclub_rate_limited_total", .counter, "Requests refused for their rate, by what was limited.",
            by: "limit",
            [
                ("member", Double(refusals.members)), ("attempt", Double(refusals.attempts)),
                ("anonymous", Double(refusals.anonymous)),
            ])
    }

    private func write(shares: [(name: String, pool: FairSemaphore)], to page: inout MetricsText) {
        let figures: [(name: String, MetricsText.Kind, help: String, figure: (FairSemaphore) -> Double)] = [
            ("used", .gauge, "What requests have taken of what they share: bytes or places.", { Double($0.used) }),
            ("total", .gauge, "What there is to share.", { Double($0.bounds.total) }),
            ("waiting", .gauge, "Requests that wait for their turn.", { Double($0.waiting) }),
            ("refusals_total", .counter, "Requests for which there was nothing left.", { Double($0.refusals) }),
        ]
        for (name, kind, help, figure) in figures {
            page.values("byteclub_shared_" + name, kind, help, by: "pool", shares.map { ($0.name, figure($0.pool)) })
        }
    }

    private func writeStorage(to page: inout MetricsText) async {
        let counted = store.statistics
        page.value("byteclub_longpolls", .gauge, "Requests that wait for a change.", Double(counted.waiting))
        page.value("byteclub_commits_total", .counter, "Durable transactions.", Double(counted.commits.time.count))
        page.value(
            "byteclub_changes_total", .counter, "Changes in durable transactions.", Double(counted.commits.changes))
        page.metric("byteclub_commit_seconds", .histogram, "Time to make a transaction durable, its sync included.")
        page.samples("byteclub_commit_seconds", [], counted.commits.time)
        // Values that the database does not return are left out: the health check has the reason. No member has the
        // number 0, so no quota of a member counts.
        if let usage = try? await store.usage(of: 0) {
            page.value("byteclub_used_bytes", .gauge, "Bytes of the club's contents.", Double(usage.used))
            page.value("byteclub_capacity_bytes", .gauge, "Bytes that the club may use.", Double(usage.capacity))
        }
        if let revision = try? await store.read({ try $0.state.lastRevision() }) {
            page.value("byteclub_journal_revision", .gauge, "The number of the last change.", Double(revision))
        }
    }
}

/// Serves `/healthz` and `/metrics` on a listener of its own, which the club's clients cannot fill up.
struct MonitorServer: Service {
    private static let connections = 64
    private static let idle = TimeAmount.seconds(30)

    let address: ListenAddress
    let monitor: Monitor
    let logger: Logger
    /// Called once with the URL when connections are accepted.
    let onListening: @Sendable (String) async -> Void

    func run() async throws {
        var limits = ConnectionLimits()
        (limits.connections, limits.idle, limits.drain) = (Self.connections, Self.idle, .seconds(1))
        let open = OpenConnections(limit: limits.connections, networkLimit: limits.connections)
        try await address.serve(open, limits, logger: logger, onListening: onListening) {
            [monitor] request, writer, _ in
            let (status, type, text) = await Self.answer(request, monitor)
            let body = ByteBuffer(string: request.method == .head ? "" : text)
            var headers: HTTPFields = [
                .contentType: type, .contentLength: String(text.utf8.count), .cacheControl: "no-store",
                .xContentTypeOptions: "nosniff",
            ]
            if status == .methodNotAllowed { headers[.allow] = "GET, HEAD" }
            let head = HTTPResponse(status: status, headerFields: headers)
            try await writer.write(response: head, body: ResponseBody(byteBuffer: body))
        }
    }

    private static func answer(
        _ request: HummingbirdCore.Request, _ monitor: Monitor
    ) async -> (HTTPResponse.Status, type: String, text: String) {
        guard request.method == .get || request.method == .head else {
            return (.methodNotAllowed, "text/plain", "only GET and HEAD\n")
        }
        switch RequestTarget.path(of: request.head.path ?? "") {
        case "/healthz":
            let problem = await monitor.health.problem()
            return (problem == nil ? .ok : .serviceUnavailable, "text/plain", (problem ?? "ok") + "\n")
        case "/metrics": return (.ok, MetricsText.mediaType, await monitor.metrics())
        default: return (.notFound, "text/plain", "use /healthz or /metrics\n")
        }
    }
}

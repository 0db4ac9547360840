import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

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
        let (monitor, address, onListening) = (monitor, address, onListening)
        var limits = ConnectionLimits()
        (limits.connections, limits.idle, limits.drain) = (Self.connections, Self.idle, .seconds(1))
        let open = OpenConnections(limit: limits.connections, networkLimit: limits.connections)
        let builder = HTTPServerBuilder { [limits] responder in
            ClubChannel(
                http: HTTP1Channel(responder: responder, configuration: .init(limits, open, isSecure: false)),
                certificate: nil, connections: open)
        }
        let server = try builder.buildServer(
            configuration: ServerConfiguration(
                address: .hostname(address.host, port: address.port)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger.atLeast(.warning),
            responder: { request, writer, _ in
                let (status, type, text) = await Self.answer(request, monitor)
                let body = ByteBuffer(string: request.method == .head ? "" : text)
                var headers: HTTPFields = [
                    .contentType: type, .contentLength: String(text.utf8.count), .cacheControl: "no-store",
                    .xContentTypeOptions: "nosniff",
                ]
                if status == .methodNotAllowed { headers[.allow] = "GET, HEAD" }
                let head = HTTPResponse(status: status, headerFields: headers)
                try await writer.write(response: head, body: ResponseBody(byteBuffer: body))
            },
            onServerRunning: { channel in
                try? await AcceptErrors.install(on: channel, logger: logger)
                await onListening("http://\(address.authority(port: channel.localAddress?.port ?? address.port))")
            })
        do {
            try await server.run()
        } catch {
            throw address.failure(error)
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

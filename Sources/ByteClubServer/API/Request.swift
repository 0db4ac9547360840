import ByteClubCore
import HTTPTypes
import HummingbirdCore
import NIOCore

/// A request as it comes in, of which nothing is checked yet; one task owns it.
///
/// It becomes a ``RoutedRequest`` once its URL is read, and a ``MemberRequest`` once its sender is known.
struct Request {
    /// The method.
    let method: HTTPRequest.Method
    /// The headers.
    let headers: HTTPFields
    /// What the request line names, as it was sent.
    let target: String
    /// The same decoded, once for all who ask; or why it cannot be.
    let place: Result<RequestTarget, APIError>
    /// The body, of which nothing is read yet.
    let body: IncomingBody
    /// Who sends the request, as far as the connection and trusted proxies tell.
    let client: Client
    /// What it rests on once its sender is known.
    let open: OpenRequest
    private let channel: any Channel

    /// Takes a request over.
    init(
        _ request: HummingbirdCore.Request, from client: Client, as open: OpenRequest, on channel: any Channel
    ) {
        self.client = client
        self.open = open
        self.channel = channel
        method = request.method
        headers = request.headers
        let target = request.head.path ?? ""
        self.target = target
        place = Result { () throws(APIError) in try RequestTarget(target) }
        body = IncomingBody(request, channel: channel)
    }

    /// Whether the client wants no further response on this connection.
    var asksToClose: Bool { headers[.connection]?.lowercased().contains("close") ?? false }

    /// Whether it is for the API, and not for a page for people.
    var isForPrograms: Bool { target.hasPrefix("/1/") }

    /// Whether a browser asks, which shows pages.
    var takesPages: Bool { headers[values: .accept].contains { $0.lowercased().contains("text/html") } }

    /// Does something that waits long, and cancels it when the client hangs up or is let in no more.
    ///
    /// - Throws: What `body` throws; ``Standing/refusal`` when the client is let in no more.
    func whileClientWaits<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        let task = Task { try await body() }
        channel.triggerUserOutboundEvent(ClientWaits { task.cancel() }, promise: nil)
        defer { channel.triggerUserOutboundEvent(ClientWaits(onHangUp: nil), promise: nil) }
        // Before the connection knew of the wait, it could not end it.
        if open.isShutOut { task.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch is CancellationError where open.isShutOut {
            throw Standing.refusal
        }
    }
}

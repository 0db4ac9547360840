import ByteClubCore
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// Answers each request from the socket, and logs it.
struct ClubResponder: Sendable {
    let api: ClubAPI
    let requests: OpenRequests
    let configuration: ClubConfiguration
    let metrics: RequestMetrics
    let logger: Logger
    let refusals: RefusalLog
    private let budget = SendBudget()
    private let ids = RequestIDs()
    private let dates = DateHeader()

    /// Answers one request.
    ///
    /// - Throws: Errors that end the connection: the client has hung up, or a response that has begun cannot continue.
    func respond(
        to incoming: HummingbirdCore.Request, _ writer: consuming ResponseWriter, on channel: any Channel
    ) async throws {
        let start = ContinuousClock.now
        let client = Client(
            peer: IPAddress(channel.remoteAddress), isSecure: configuration.certificate != nil,
            host: incoming.head.authority, headers: incoming.headers, trusting: configuration.trustedProxies,
            by: configuration.proxyHeader)
        let open = OpenRequest(requests, on: channel)
        defer { open.end() }
        let request = Request(incoming, from: client, as: open, on: channel)
        var record = RequestRecord(request, id: ids.make())
        let response: Response
        do {
            response = try await api.respond(to: request, noting: &record)
        } catch let error as APIError {
            response = .refusal(error)
        } catch let error where request.body.isBroken || error is CancellationError {
            record.finish(status: open.isShutOut ? 401 : 499, received: request.body.received, sent: 0, since: start)
            log(record, of: request)
            throw error
        } catch {
            let refusal = ServerFault.refusal(for: error)
            if refusal.status >= 500 { logger.error("request \(record.id): \(ServerFault.line(for: error))") }
            response = .refusal(refusal)
        }
        // The rest of a body is not read when the client accepts no further answer.
        let body = request.body
        let keepsConnection = body.isComplete || (body.isNearlyRead && !request.asksToClose)
        var head = head(of: response, id: record.id, keepsConnection: keepsConnection)
        CrossOrigin.allow(request, in: &head.headerFields)
        if client.isSecure { head.headerFields.requireTLS() }
        let isHead = request.method == .head
        let produced = ByteCount()
        record.finish(
            status: response.status.code, received: body.received, sent: isHead ? 0 : response.body.length, since: start
        )
        if isHead || !response.isStreamed { open.end() }
        do {
            try await writer.write(
                response: head,
                body: isHead
                    ? ResponseBody()
                    : self.body(of: response, endingWith: open, on: channel.eventLoop, counting: produced))
        } catch {
            record.add(sent: produced.total)
            log(record, of: request, remark: "the answer was not sent completely")
            throw error
        }
        record.add(sent: produced.total)
        log(record, of: request)
    }

    private func log(_ record: RequestRecord, of request: Request, remark: String? = nil) {
        refusals.writeSums()
        if record.status == HTTPResponse.Status.tooManyRequests.code, record.member == nil {
            refusals.count(request.client.address?.network)
        } else {
            write(record, remark)
        }
        metrics.record(record)
    }

    /// Writes a line about a request.
    private func write(_ record: RequestRecord, _ remark: String?) {
        let level = configuration.requestLevel
        switch configuration.logFormat {
        case .text: logger.log(level: level, "\(record)\(remark.map { " (\($0))" } ?? "")")
        case .json:
            var fields = record.fields
            if let remark { fields["remark"] = .string(remark) }
            logger.log(level: level, "request", metadata: fields)
        }
    }

    private func head(of response: Response, id: String, keepsConnection: Bool) -> HTTPResponse {
        var headers = response.headers
        if case .none = response.body {} else { headers[.contentLength] = response.body.knownLength.map { String($0) } }
        headers[.cacheControl] = response.headers[.cacheControl] ?? "no-cache"
        headers[.pragma] = "no-cache"
        headers[.xContentTypeOptions] = "nosniff"
        headers[.requestID] = id
        headers[.date] = dates.text(at: configuration.settings.now())
        if !keepsConnection { headers[.connection] = "close" }
        return HTTPResponse(status: response.status, headerFields: headers)
    }

    /// Sends a response's content; the request ends before the last piece.
    private func body(
        of response: Response, endingWith open: OpenRequest, on loop: any EventLoop, counting produced: ByteCount
    ) -> ResponseBody {
        switch response.body {
        case .none: ResponseBody()
        case .bytes(let buffer) where response.lease != nil:
            ResponseBody(contentLength: buffer.readableBytes) { [lease = response.lease] writer in
                try await Self.send(buffer, to: &writer, on: loop)
                open.end()
                try await writer.finish(nil)
                withExtendedLifetime(lease) {}
            }
        case .bytes(let buffer): ResponseBody(byteBuffer: buffer)
        case .blob(let blob, let range):
            ResponseBody(contentLength: range.count) { writer in
                budget.begin()
                defer { budget.end() }
                try await send(blob, range, to: &writer, on: loop)
                open.end()
                try await writer.finish(nil)
            }
        case .produced(let producer):
            ResponseBody(contentLength: producer.length.map { Int($0) }) { writer in
                budget.begin()
                defer { budget.end() }
                try await send(producer, to: &writer, on: loop, counting: produced)
                open.end()
                try await writer.finish(nil)
            }
        }
    }

    /// Makes and sends a content piece by piece; counts it where its length was not known before.
    private func send(
        _ producer: any BodyProducer, to writer: inout any ResponseBodyWriter, on loop: any EventLoop,
        counting produced: ByteCount
    ) async throws {
        let budget = budget
        try await producer.produce {
            budget.pieceSize
        } _: { piece in
            if producer.length == nil { produced.add(piece.readableBytes) }
            try await writer.write(piece)
            try await loop.submit {}.get()
        }
    }

    /// Sends bytes piece by piece, no faster than the client receives them; see below.
    private static func send(
        _ buffer: ByteBuffer, to writer: inout any ResponseBodyWriter, on loop: any EventLoop
    ) async throws {
        var rest = buffer
        while let piece = rest.readSlice(length: min(rest.readableBytes, SendBudget.largest)), piece.readableBytes > 0 {
            // A slice would keep the memory of the whole, also when its lease is given back.
            try await writer.write(ByteBuffer(bytes: piece.readableBytesView))
            try await loop.submit {}.get()
        }
    }

    /// Reads the next piece while the last one is being sent.
    ///
    /// The writer waits for a slow client only once the event loop has reported the last piece; so each piece is
    /// awaited on the loop before the next one. With a late loop the whole content would otherwise pile up in memory.
    private func send(
        _ blob: any BlobReader, _ range: Range<Int64>, to writer: inout any ResponseBodyWriter, on loop: any EventLoop
    ) async throws {
        var offset = range.lowerBound
        guard offset < range.upperBound else { return }
        var piece = try await blob.read(at: offset, count: Int(min(Int64(budget.pieceSize), range.upperBound - offset)))
        while true {
            offset += Int64(piece.readableBytes)
            guard offset < range.upperBound else { return try await writer.write(piece) }
            let start = offset
            let count = Int(min(Int64(budget.pieceSize), range.upperBound - start))
            async let next = blob.read(at: start, count: count)
            try await writer.write(piece)
            try await loop.submit {}.get()
            piece = try await next
        }
    }
}

/// Counts the bytes of a content whose length was not known before it was sent.
final class ByteCount: Sendable {
    private let bytes = Atomic<Int64>(0)

    /// The bytes so far.
    var total: Int64 { bytes.load(ordering: .relaxed) }

    /// Adds some.
    func add(_ count: Int) { bytes.wrappingAdd(Int64(count), ordering: .relaxed) }
}

/// Shares the memory for answers that are read piece by piece among those that are being sent.
final class SendBudget: Sendable {
    /// The bytes that all of them may hold.
    static let total = 32 << 20
    /// The least that one piece is worth reading for.
    static let smallest = 16 << 10
    /// The longest piece in bytes.
    static let largest = 256 << 10

    private let sending = Atomic<Int>(0)

    /// Adds one; ``end()`` removes it.
    func begin() { sending.wrappingAdd(1, ordering: .relaxed) }

    /// Counts one less.
    func end() { sending.wrappingSubtract(1, ordering: .relaxed) }

    /// The longest piece now: an answer holds one that is being sent, one that is being read, and the unsent rest in
    /// the socket.
    var pieceSize: Int {
        let share = Self.total / 3 / max(1, sending.load(ordering: .relaxed))
        return max(Self.smallest, min(Self.largest, share))
    }
}

/// The refusals and log lines of failures that are not the client's.
enum ServerFault {
    /// The refusal; it reveals no internals of the server.
    static func refusal(for error: any Error) -> APIError {
        let error = error as? StorageError
        return switch error?.code {
        case .full: APIError(507, "the club's storage is full")
        case .overQuota: APIError(507, error?.message ?? "")
        case .noMember: APIError(401, error?.message ?? "")
        case .lastOwner: APIError(409, error?.message ?? "")
        case .notFound: APIError(404, error?.message ?? "")
        case .tooMany(let seconds): APIError(429, error?.message ?? "", retryAfter: seconds)
        case .closed: APIError(503, "the server is stopping; try again")
        default: APIError(500, "the server failed; see its log for this request's ID")
        }
    }

    /// One line for the log.
    static func line(for error: any Error) -> String { "\(error)".split(separator: "\n").joined(separator: " ") }
}

extension UploadError {
    /// The wire's refusal: an unknown id is 404 for a chunk, but 400 for a commit.
    func refusal(committing: Bool) -> APIError {
        switch self {
        case .unknown: APIError(committing ? 400 : 404, description)
        case .wrongOffset(_, let upload): APIError(400, description, upload: upload)
        case .alreadyCompleted: APIError(400, description)
        case .tooMany: APIError(429, description, retryAfter: 10)
        }
    }
}

import ByteClubCore
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTPTypes

/// A request's body as it arrives: read piece by piece, by one task, with back-pressure down to the socket.
final class IncomingBody {
    /// The length that the client announced; nil with chunked coding and without a body.
    let length: Int64?
    /// Whether all of the body was read.
    private(set) var isComplete: Bool
    /// The number of bytes read so far.
    private(set) var received: Int64 = 0
    /// Whether the connection failed while the body was read.
    private(set) var isBroken = false

    private let body: RequestBody
    private var iterator: RequestBody.AsyncIterator?
    private var continues: (any Channel)?

    /// Prepares to read a request's body; nothing is read yet.
    init(_ request: HummingbirdCore.Request, channel: any Channel) {
        let headers = request.headers
        let isChunked = headers[.transferEncoding] != nil
        length = isChunked ? nil : headers[.contentLength].flatMap { Int64($0) }
        isComplete = !isChunked && length ?? 0 == 0
        body = request.body
        if headers[.expect]?.lowercased() == "100-continue" { continues = channel }
    }

    /// The next bytes; nil when the body is complete.
    ///
    /// The first call sends `100 Continue` to a client that waits for it.
    ///
    /// - Throws: ``BodyError/cutShort`` when the body is shorter than announced, or the connection's error.
    func next() async throws -> ByteBuffer? {
        if isComplete { return nil }
        do {
            return try await read()
        } catch {
            isBroken = true
            throw error
        }
    }

    private func read() async throws -> ByteBuffer? {
        if let channel = continues {
            continues = nil
            try await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)))
        }
        var current = iterator ?? body.makeAsyncIterator()
        let piece = try await current.next()
        iterator = current
        guard let piece else {
            if let length, received < length { throw BodyError.cutShort }
            isComplete = true
            return nil
        }
        received += Int64(piece.readableBytes)
        return piece
    }

    /// The whole body in memory.
    ///
    /// - Throws: ``APIError`` 413 when it is longer than `limit` bytes; as ``next()``.
    func collect(limit: Int64) async throws -> [UInt8] {
        if let length, length > limit { throw APIError(413, "the body is longer than \(limit) bytes") }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(length ?? 0))
        while let piece = try await next() {
            if received > limit { throw APIError(413, "the body is longer than \(limit) bytes") }
            bytes.append(contentsOf: piece.readableBytesView)
        }
        return bytes
    }

    /// Whether the connection can be used again after a response now: little or nothing of the body is still to come.
    var isNearlyRead: Bool {
        if isComplete { return true }
        guard let length, continues == nil else { return false }
        return length - received <= 8 << 20
    }
}

/// Why a request's body could not be read.
enum BodyError: Error {
    /// The connection ended before the announced length had come.
    case cutShort
}

extension JSONReadable {
    /// Reads a value in a body, which the refusal calls by a name.
    ///
    /// - Throws: ``APIError`` 400 when the bytes are not one.
    static func read(_ name: String, from bytes: [UInt8]) throws(APIError) -> Self {
        do {
            return try JSONReader.read(from: bytes)
        } catch {
            throw APIError(400, "\(name) is invalid: \(error)")
        }
    }
}

/// A body of a line of JSON and the bytes that belong to it, read as it arrives: the line is held, the bytes are not.
struct IncomingFrame {
    private let body: IncomingBody
    /// Bytes that came and are not read yet.
    private var rest = ByteBuffer()

    /// Prepares to read a body; nothing is read yet.
    init(_ body: IncomingBody) {
        self.body = body
    }

    /// Reads the line.
    ///
    /// - Throws: ``APIError`` 413 when it is longer than `limit` bytes, 400 when the body ends inside it; errors of
    ///   reading the body.
    mutating func head(atMost limit: Int) async throws -> [UInt8] {
        while true {
            if let end = rest.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
                let count = end - rest.readerIndex
                guard count <= limit else { throw RequestCost.tooLong(limit) }
                defer { rest.moveReaderIndex(forwardBy: count + 1) }
                return Array(rest.readableBytesView.prefix(count))
            }
            guard rest.readableBytes <= limit else { throw RequestCost.tooLong(limit) }
            guard var piece = try await body.next() else {
                throw APIError(400, "the body has no newline after its head")
            }
            rest.discardReadBytes()
            rest.writeBuffer(&piece)
        }
    }

    /// Streams the next bytes into a writer; the socket is read no faster than the disk writes.
    ///
    /// - Returns: Whether there were as many.
    /// - Throws: As ``ContentWriter/flush()``, and errors of reading the body.
    mutating func pour(_ count: Int64, into writer: some ContentWriter) async throws -> Bool {
        var missing = count
        while missing > 0 {
            if rest.readableBytes == 0 {
                guard let piece = try await body.next() else { return false }
                rest = piece
            }
            guard let part = rest.readSlice(length: Int(min(missing, Int64(rest.readableBytes)))) else { return false }
            missing -= Int64(part.readableBytes)
            if unsafe part.withUnsafeReadableBytes({ unsafe writer.append($0) }) { try await writer.flush() }
        }
        return true
    }
}

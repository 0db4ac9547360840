import ByteClubCore
import NIOCore

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
    /// - Throws: ``APIError`` 413 when it is longer than `limit` bytes, 400 when the body ends inside it; what reading the
    ///   body throws.
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

    /// Streams the next bytes into a writer; the socket is read no faster than the disk takes them.
    ///
    /// - Returns: Whether there were as many.
    /// - Throws: As ``ContentWriter/flush()``, and what reading the body throws.
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

    /// Whether nothing follows.
    ///
    /// - Throws: What reading the body throws.
    mutating func isAtEnd() async throws -> Bool {
        while rest.readableBytes == 0 {
            guard let piece = try await body.next() else { return true }
            rest = piece
        }
        return false
    }
}

import ByteClubCore
import NIOCore

/// Reads a `multipart/form-data` body as it arrives (RFC 7578), in bounded memory.
struct MultipartReader {
    /// A part's names.
    struct Part: Hashable {
        /// The field's name.
        let name: String
        /// The file's name; nil for an ordinary field.
        let fileName: String?
    }

    private static let headLimit = 8 << 10

    private let body: IncomingBody
    private let delimiter: [UInt8]
    private var buffer: [UInt8] = Array("\r\n".utf8)
    private var isInContent = true

    /// Prepares to read; `contentType` is the request's header.
    ///
    /// - Throws: ``APIError`` 400 when it is no form with a boundary.
    init(_ body: IncomingBody, contentType: String?) throws(APIError) {
        guard let contentType, contentType.lowercased().hasPrefix("multipart/form-data"),
            let boundary = HeaderParameters(contentType)["boundary"], (1...70).contains(boundary.utf8.count)
        else { throw APIError(400, "the body is not multipart/form-data") }
        self.body = body
        delimiter = Array("\r\n--\(boundary)".utf8)
    }

    /// Continues with the next part; nil after the last one, when the whole body was read.
    ///
    /// - Throws: ``APIError`` 400 when the form is malformed; as ``IncomingBody/next()``.
    mutating func nextPart() async throws -> Part? {
        while try await nextBytes() != nil {}
        if buffer.starts(with: "--".utf8) {
            while try await body.next() != nil {}
            return nil
        }
        while true {
            if let end = Self.find(Array("\r\n\r\n".utf8), in: buffer) {
                let head = Array(buffer[..<end])
                buffer.removeFirst(end + 4)
                isInContent = true
                return try Self.part(head)
            }
            guard buffer.count <= Self.headLimit, try await fill() else { throw Self.malformed }
        }
    }

    /// The part's next bytes; nil at its end.
    ///
    /// - Throws: As ``nextPart()``.
    mutating func nextBytes() async throws -> [UInt8]? {
        guard isInContent else { return nil }
        while true {
            if let end = Self.find(delimiter, in: buffer) {
                let bytes = Array(buffer[..<end])
                buffer.removeFirst(end + delimiter.count)
                isInContent = false
                while buffer.count < 2 { guard try await fill() else { throw Self.malformed } }
                return bytes.isEmpty ? nil : bytes
            }
            let settled = buffer.count - delimiter.count + 1
            if settled > 0 {
                let bytes = Array(buffer[..<settled])
                buffer.removeFirst(settled)
                return bytes
            }
            guard try await fill() else { throw Self.malformed }
        }
    }

    /// Writes the rest of the part to the disk as it arrives.
    ///
    /// - Throws: As ``nextPart()``, and errors of the storage, after which the received bytes are discarded.
    mutating func content(in blobs: any BlobStore) async throws -> StagedContent {
        let writer = try await blobs.writer()
        do {
            while let bytes = try await nextBytes() { try await writer.write(bytes) }
        } catch {
            await writer.discard()
            throw error
        }
        return try await writer.finish()
    }

    private mutating func fill() async throws -> Bool {
        guard let piece = try await body.next() else { return false }
        buffer.append(contentsOf: piece.readableBytesView)
        return true
    }

    private static var malformed: APIError { APIError(400, "the form is malformed") }

    private static func find(_ pattern: [UInt8], in bytes: [UInt8]) -> Int? {
        guard let first = pattern.first else { return nil }
        var start = 0
        while let index = bytes[start...].firstIndex(of: first), index + pattern.count <= bytes.count {
            if bytes[index...].starts(with: pattern) { return index }
            start = index + 1
        }
        return nil
    }

    private static func part(_ head: [UInt8]) throws(APIError) -> Part {
        for line in String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let halves = line.split(separator: ":", maxSplits: 1)
            guard halves.count == 2, halves[0].lowercased() == "content-disposition" else { continue }
            let parameters = HeaderParameters(halves[1])
            guard let name = parameters["name"] else { break }
            return Part(name: name, fileName: parameters["filename"])
        }
        throw malformed
    }
}

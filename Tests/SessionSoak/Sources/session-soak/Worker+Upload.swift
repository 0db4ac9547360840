import Glibc
import HTTPTypes

@testable import ByteClubHTTP

extension Worker {
    /// Sends a body of some kind; an answer that speaks of it must speak of all of it.
    mutating func upload(_ method: HTTPRequest.Method) async {
        var options = options()
        let source = world.newPath("upload")
        defer { unlink(source) }
        let isLarge = random.one(in: 6)
        let count = Int.random(in: 0...(isLarge ? 1_500_000 : 80_000), using: &random)
        let bytes = Contents(file: 0, version: Int.random(in: 1...1 << 20, using: &random)).bytes(0..<count)
        var wanted = Checksum.text(of: bytes)
        let body: Body
        switch Int.random(in: 0..<7, using: &random) {
        case 0:
            body = .none
            wanted = Checksum.text(of: [])
        case 1, 2: body = .bytes(bytes)
        case 3:
            writeFile(source, bytes)
            body = .file(path: source)
        case 4:
            writeFile(source, [9, 9, 9] + bytes + [8])
            body = .file(path: source, offset: 3, length: Int64(count))
        case 5:
            writeFile(source, bytes)
            var form = Multipart(boundary: "soak-\(count)")
            form.add("text", "grüße")
            form.add("photo", file: source, fileName: "a.jpg", contentType: "image/jpeg")
            body = .multipart(form)
            wanted = Checksum.text(of: Self.form(boundary: "soak-\(count)", bytes))
        default:
            let pieces = Pieces(
                bytes: bytes, pause: random.one(in: 3) ? 3 : 0,
                failure: random.one(in: 8) ? Int.random(in: 0...count, using: &random) : nil)
            body = .stream(BodyStream(pieces, length: random.one(in: 2) ? Int64(count) : nil))
        }
        let kind = "\(method.rawValue.lowercased())-\(Self.name(of: body))"
        let path = guarded("/sink/" + world.newName(kind))
        if method == .post, random.one(in: 3) { options.idempotencyKey = path }
        // Now and then through the proxy, if the session has one.
        let authority = random.one(in: 6) ? home.neighbour : nil
        let task = session.uploadTask(request(method, path, authority), from: body, options: options)
        // What was changed meanwhile must not arrive torn.
        var changed: Task<Void, Never>?
        if case .file = body, random.one(in: 4) {
            let pause = Int.random(in: 0...20_000, using: &random)
            changed = Task {
                try? await Task.sleep(for: .microseconds(pause))
                writeFile(source, [1, 2, 3, 4], appending: true)
            }
        }
        let result = await perform(kind, task, file: nil)
        await changed?.value
        guard case .success(let result) = result, result.response.status.code == 200,
            result.bytes.starts(with: "whole ".utf8)
        else { return }
        let said = String(decoding: result.bytes, as: UTF8.self)
        if said == wanted { return }
        // A file that was longer already when it was opened is whole, too.
        if changed != nil, case .file(_, 0, nil) = body, said == Checksum.text(of: bytes + [1, 2, 3, 4]) { return }
        world.ledger.violation("of '\(wanted)' the server got '\(said)': \(path), \(Self.name(of: body))")
    }

    private static func name(of body: Body) -> String {
        switch body {
        case .none: "nothing"
        case .bytes: "bytes"
        case .file: "file"
        case .multipart: "form"
        case .stream: "stream"
        case .parts: "parts"
        }
    }

    /// The form as RFC 7578 has it.
    private static func form(boundary: String, _ bytes: [UInt8]) -> [UInt8] {
        var all = Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\ngrüße\r\n".utf8)
        all += "--\(boundary)\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a.jpg\"\r\n".utf8
        all += "Content-Type: image/jpeg\r\n\r\n".utf8
        all += bytes
        all += "\r\n--\(boundary)--\r\n".utf8
        return all
    }
}

/// A body in pieces, which may be slow, or fail.
struct Pieces: AsyncSequence, Sendable {
    struct Broken: Error {}

    let bytes: [UInt8]
    let pause: Int
    let failure: Int?

    struct AsyncIterator: AsyncIteratorProtocol {
        let pieces: Pieces
        var offset = 0

        mutating func next() async throws -> [UInt8]? {
            if let failure = pieces.failure, offset >= failure { throw Broken() }
            if offset == pieces.bytes.count { return nil }
            if pieces.pause > 0 { try await Task.sleep(for: .milliseconds(pieces.pause)) }
            let end = Swift.min(offset + 30_000, pieces.bytes.count)
            defer { offset = end }
            return Array(pieces.bytes[offset..<end])
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self) }
}

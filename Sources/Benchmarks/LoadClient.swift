import Glibc
import TestSupport

/// One kept-alive connection of a ``Load``, with one request under way.
struct LoadClient {
    /// The socket.
    let descriptor: Int32
    private var head: [UInt8] = []
    private var missing: Int?
    private var status = 0
    private var received = 0
    private var start = ContinuousClock.now

    /// Connects.
    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, LoopbackAddress.server.connect(descriptor, port: port) else {
            throw Stopwatch.Failure(description: "cannot connect to port \(port)")
        }
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Closes the connection.
    func end() { close(descriptor) }

    /// Sends a whole request.
    mutating func send(_ bytes: [UInt8]) throws {
        start = ContinuousClock.now
        (missing, status, received) = (nil, 0, 0)
        head.removeAll(keepingCapacity: true)
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(
                    descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Stopwatch.Failure(description: "the server has closed the connection") }
            sent += count
        }
    }

    /// Reads available bytes; returns the answer once it is complete.
    mutating func receive(into scratch: inout [UInt8]) throws -> (status: Int, seconds: Double, bytes: Int)? {
        let count = unsafe recv(descriptor, &scratch, scratch.count, 0)
        guard count > 0 else { throw Stopwatch.Failure(description: "the server has ended the connection") }
        received += count
        if let missing {
            self.missing = missing - count
        } else {
            head.append(contentsOf: scratch[..<count])
            try readHead()
        }
        guard let missing, missing <= 0 else { return nil }
        return (status, Stopwatch.seconds(since: start), received)
    }

    /// Sends a request and waits for the whole answer.
    mutating func exchange(_ request: [UInt8]) throws -> (status: Int, seconds: Double, body: [UInt8]) {
        try send(request)
        var scratch = [UInt8](repeating: 0, count: 256 << 10)
        var bytes: [UInt8] = []
        while true {
            let before = received
            let answer = try receive(into: &scratch)
            bytes += scratch.prefix(received - before)
            guard let answer else { continue }
            let start = Self.index(of: Self.headEnd, in: bytes).map { $0 + Self.headEnd.count } ?? bytes.count
            return (answer.status, answer.seconds, Array(bytes[start...]))
        }
    }

    private mutating func readHead() throws {
        guard let end = Self.index(of: Self.headEnd, in: head) else { return }
        status = head.prefix(12).suffix(3).reduce(0) { $0 * 10 + Int($1) - 48 }
        let name = Self.index(of: Self.length, in: head[..<end].map { $0 | 0x20 })
        let digits = name.map { head[($0 + Self.length.count)...].prefix { $0 != UInt8(ascii: "\r") } }
        let length = digits.flatMap { Int(String(decoding: $0.filter { $0 != 0x20 }, as: UTF8.self)) }
        guard let length = status == 304 || status == 204 ? 0 : length else {
            throw Stopwatch.Failure(description: "an answer without a length")
        }
        missing = length - (head.count - end - 4)
    }

    private static let headEnd = Array("\r\n\r\n".utf8)
    private static let length = Array("content-length:".utf8)

    private static func index(of pattern: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= pattern.count else { return nil }
        for start in 0...(bytes.count - pattern.count) where bytes[start] == pattern[0] {
            if bytes[start..<(start + pattern.count)].elementsEqual(pattern) { return start }
        }
        return nil
    }
}

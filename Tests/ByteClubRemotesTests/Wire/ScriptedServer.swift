import Glibc
import Synchronization
import TestSupport

/// An HTTP server on the loopback that says what a script tells it to, byte by byte, on plain sockets.
final class ScriptedServer: Sendable {
    /// A request as it came over the wire.
    struct Request: Sendable {
        var line: String
        var fields: [String: String]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// What follows a request.
    struct Reply: Sendable {
        var bytes: [UInt8]
        var closes = false
        /// How much of the body is read before the connection is dropped without an answer; nil to read it all.
        var dropsAfter: Int?

        /// A whole answer.
        static func status(_ status: Int, _ body: String = "{}", _ fields: [String] = []) -> Reply {
            .bytes(status, Array(body.utf8), fields)
        }

        static func bytes(_ status: Int, _ body: [UInt8], _ fields: [String] = []) -> Reply {
            let head = ["HTTP/1.1 \(status) Status", "Content-Length: \(body.count)"] + fields
            return Reply(bytes: Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
        }

        /// Exactly these bytes, and then the end of the connection.
        static func raw(_ text: String) -> Reply { Reply(bytes: Array(text.utf8), closes: true) }

        /// The end of the connection, after some of the body.
        static func drop(after count: Int = 0) -> Reply { Reply(bytes: [], closes: true, dropsAfter: count) }
    }

    typealias Script = @Sendable (Request, Int) -> Reply

    private let listener: LoopbackListener
    private let script: Script
    private let log = Mutex<[Request]>([])

    /// Starts a server; the script is told each request and its number from 0.
    init(_ script: @escaping Script) throws {
        listener = try LoopbackListener()
        self.script = script
        listener.start { self.serve($0) }
    }

    /// Ends the server; connections end when their peers do.
    func stop() { listener.stop() }

    var port: UInt16 { listener.port }
    var origin: String { "http://127.0.0.1:\(port)" }
    var requests: [Request] { log.withLock { $0 } }
    var lines: [String] { requests.map(\.line) }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var input = Input(connection)
        while var request = input.head() {
            let number = log.withLock { log in
                log.append(request)
                return log.count - 1
            }
            let length = Int(request.fields["content-length"] ?? "0") ?? 0
            let reply = script(request, number)
            guard let body = input.body(min(length, reply.dropsAfter ?? length)) else { return }
            request.body = body
            log.withLock { $0[number] = request }
            // A script that depends on the body is asked again.
            let answer = reply.dropsAfter == nil && length > 0 ? script(request, number) : reply
            guard Self.send(answer.bytes, connection), !answer.closes else { return }
        }
    }

    private static func send(_ bytes: [UInt8], _ connection: Int32) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { all in
                unsafe Glibc.send(
                    connection, all.baseAddress?.advanced(by: offset), all.count - offset, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            offset += count
        }
        return true
    }

    private struct Input {
        private let connection: Int32
        private var pending: [UInt8] = []

        init(_ connection: Int32) { self.connection = connection }

        private mutating func fill() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 1 << 17)
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            pending += buffer.prefix(count)
            return true
        }

        mutating func head() -> Request? {
            let end = Array("\r\n\r\n".utf8)
            while true {
                if let range = pending.firstRange(of: end) {
                    let text = String(decoding: pending[..<range.lowerBound], as: UTF8.self)
                    pending.removeSubrange(..<range.upperBound)
                    var lines = text.split(separator: "\r\n").map(String.init)
                    let line = lines.removeFirst()
                    var fields: [String: String] = [:]
                    for line in lines {
                        guard let colon = line.firstIndex(of: ":") else { continue }
                        fields[line[..<colon].lowercased()] = String(
                            line[line.index(after: colon)...].drop { $0 == " " })
                    }
                    return Request(line: line, fields: fields, body: [])
                }
                if !fill() { return nil }
            }
        }

        mutating func body(_ count: Int) -> [UInt8]? {
            pending.reserveCapacity(count)
            while pending.count < count { if !fill() { return nil } }
            let body = Array(pending[..<count])
            pending = Array(pending[count...])
            return body
        }
    }
}

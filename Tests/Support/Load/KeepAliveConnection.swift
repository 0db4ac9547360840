import Glibc

/// A connection that carries one request after another, for loads that no client library could make fast enough.
///
/// Its calls block: use it from ``BackgroundThread``.
public struct KeepAliveConnection: ~Copyable {
    private let connection: RawConnection
    private let fields: [UInt8]
    private var buffer: [UInt8] = []

    /// Connects; nil when nobody listens.
    public init?(port: UInt16, token: String, timeout seconds: Int = 60) {
        guard let connection = RawConnection(port: port, timeout: seconds) else { return nil }
        self.connection = connection
        fields = Array(
            " HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\nContent-Length: ".utf8)
    }

    /// Sends a request, for example `GET /1/account/info`, and reads its answer; nil when the connection broke first.
    public mutating func exchange(_ line: String, body: [UInt8] = []) -> (status: Int, body: [UInt8])? {
        let head = Array(line.utf8) + fields + Array("\(body.count)\r\n\r\n".utf8)
        guard connection.send(head + body) else { return nil }
        while true {
            if let end = RawMessage.headEnd(buffer), let message = RawMessage(Array(buffer[..<end])) {
                let length = message["content-length"].flatMap { Int($0) } ?? 0
                while buffer.count < end + length {
                    guard receive() else { return nil }
                }
                let answer = Array(buffer[end..<(end + length)])
                buffer.removeFirst(end + length)
                return (message.status, answer)
            }
            guard receive() else { return nil }
        }
    }

    private mutating func receive() -> Bool {
        let bytes = connection.receive()
        buffer += bytes
        return !bytes.isEmpty
    }
}

import Glibc
import Synchronization

/// A server that stands before the real one and changes its answers.
///
/// Each connection carries one request, which goes to the real server as it is; what comes back is changed by the lie.
public final class LyingProxy: Sendable {
    /// What is done to an answer.
    public enum Lie: Sendable {
        /// The body ends at half its length, and so does the connection.
        case truncated
        /// `Content-Length` says less than the body has.
        case shortLength
        /// The body has its length, but one byte is another.
        case flippedByte
        /// The body is this instead, with a length and a status that fit.
        case instead(status: Int, body: String)
        /// The connection ends without an answer.
        case silence
        /// What is no HTTP at all.
        case noise
        /// Whatever somebody sends in the real server's place, which is not asked; the connection ends with it.
        case own(Answer)
    }

    /// Answers a request; what sends is false once the client is gone.
    public typealias Answer = @Sendable (_ request: RawMessage, _ send: ([UInt8]) -> Bool) -> Void

    private let listener: LoopbackListener
    private let upstream: UInt16
    private let lie: @Sendable (_ target: String) -> Lie?
    private let lies = Mutex(0)

    /// Starts a proxy.
    ///
    /// - Parameters:
    ///   - upstream: The real server's port on loopback.
    ///   - lie: What to do to the answer of a request with this target; nil lets it pass.
    /// - Throws: An error when the system has no port left.
    public init(to upstream: UInt16, lie: @escaping @Sendable (_ target: String) -> Lie?) throws {
        self.upstream = upstream
        self.lie = lie
        listener = try LoopbackListener()
        listener.start { [weak self] connection in
            if let self { serve(connection) } else { close(connection) }
        }
    }

    deinit { stop() }

    /// Where the proxy listens.
    public var port: UInt16 { listener.port }
    /// The proxy's address.
    public var url: String { "http://127.0.0.1:\(port)" }
    /// How many answers were changed so far.
    public var count: Int { lies.withLock { $0 } }

    /// The refusal of a proxy or a portal that knows nothing of the server behind it.
    public static func refusal(_ status: Int) -> Answer {
        let body = "<html>Please sign in to the network"
        let head = "HTTP/1.1 \(status) Refused\r\nContent-Type: text/html\r\nConnection: close\r\n"
        return { _, send in _ = send(Array("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)) }
    }

    /// Ends listening.
    public func stop() {
        listener.stop()
    }

    private func serve(_ descriptor: Int32) {
        let client = RawConnection(accepted: descriptor, timeout: 20)
        guard var request = receiveRequest(client) else { return }
        request["Connection"] = "close"
        request["Expect"] = nil
        if case .own(let answer)? = self.lie(request.target) {
            lies.withLock { $0 += 1 }
            return answer(request) { client.send($0) }
        }
        guard let server = RawConnection(port: upstream), server.send(request.bytes) else { return }
        guard var answer = RawMessage(server.receiveAll()) else { return }
        answer["Connection"] = "close"
        guard let lie = lie(request.target) else {
            client.send(answer.bytes)
            return
        }
        lies.withLock { $0 += 1 }
        switch lie {
        case .truncated:
            answer.body = Array(answer.body.prefix(answer.body.count / 2))
            client.send(answer.bytes)
        case .shortLength:
            answer["Content-Length"] = String(answer.body.count / 2)
            client.send(answer.bytes)
        case .flippedByte:
            if !answer.body.isEmpty { answer.body[answer.body.count / 2] ^= 1 }
            client.send(answer.bytes)
        case .instead(let status, let body):
            answer.start = "HTTP/1.1 \(status) Changed"
            answer["Transfer-Encoding"] = nil
            answer["Content-Length"] = String(body.utf8.count)
            answer.body = Array(body.utf8)
            client.send(answer.bytes)
        case .silence: break
        case .own: break
        case .noise: client.send(Array("220 mail.example ESMTP\r\n\u{0}\u{1}\u{2}\r\n".utf8))
        }
    }

    private func receiveRequest(_ client: borrowing RawConnection) -> RawMessage? {
        var bytes: [UInt8] = []
        while true {
            if var message = RawMessage(bytes) {
                let length = message["Content-Length"].flatMap { Int($0) } ?? 0
                if message["Expect"] != nil, message.body.isEmpty, length > 0 {
                    client.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
                    message["Expect"] = nil
                    bytes = message.bytes
                }
                if message.body.count >= length { return message }
            }
            let more = client.receive()
            if more.isEmpty { return nil }
            bytes += more
        }
    }
}

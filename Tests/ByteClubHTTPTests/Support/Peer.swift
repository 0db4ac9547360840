import Glibc

/// A connection as the server sees it.
///
/// Belongs to one thread.
final class Peer {
    let descriptor: Int32
    private var buffer: [UInt8] = []
    private var chunk = [UInt8](repeating: 0, count: 256 << 10)

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var one: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
    }

    /// How many bytes came with the last head.
    var heldBytes: Int { buffer.count }

    /// The next request's head, or nil if the client has disconnected.
    func readHead() -> RecordedRequest? {
        let mark = Array("\r\n\r\n".utf8)
        // Bytes that were searched once are skipped, since the rest of a body may be long.
        var start = 0
        while true {
            if buffer.count >= start + 4,
                let end = (start...(buffer.count - 4)).first(where: { buffer[$0..<($0 + 4)].elementsEqual(mark) })
            {
                let raw = String(decoding: buffer[..<(end + 4)], as: UTF8.self)
                buffer.removeFirst(end + 4)
                return RecordedRequest(raw)
            }
            start = max(0, buffer.count - 3)
            guard receive() else { return nil }
        }
    }

    /// Reads a request's whole body and returns it; shorter if the client has disconnected.
    func readBody(of request: RecordedRequest) -> [UInt8] {
        readBytes(request.contentLength)
    }

    /// Reads up to `count` bytes of a body without keeping them; how many came.
    func skip(_ count: Int) -> Int {
        var left = count
        let held = min(buffer.count, left)
        buffer.removeFirst(held)
        left -= held
        while left > 0 {
            let got = unsafe recv(descriptor, &chunk, min(chunk.count, left), 0)
            if got <= 0 { break }
            left -= got
        }
        return count - left
    }

    /// Reads a line and returns it without its end; nil if the client has disconnected.
    func readLine() -> String? {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                let line = String(decoding: buffer[..<end].filter { $0 != 13 }, as: UTF8.self)
                buffer.removeFirst(end + 1)
                return line
            }
            guard receive() else { return nil }
        }
    }

    /// Reads this many bytes and returns them; fewer if the client has disconnected.
    func readBytes(_ count: Int) -> [UInt8] {
        while buffer.count < count { if !receive() { break } }
        let got = min(buffer.count, count)
        defer { buffer.removeFirst(got) }
        return Array(buffer[..<got])
    }

    /// Reads until the client closes.
    func waitForEnd() {
        while unsafe recv(descriptor, &chunk, chunk.count, 0) > 0 {}
    }

    /// Sends everything; false if the client has disconnected.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let sent = unsafe bytes.withUnsafeBytes { all in
                guard let start = all.baseAddress else { return -1 }
                return unsafe Glibc.send(
                    descriptor, start + offset, bytes.count - offset, Int32(MSG_NOSIGNAL))
            }
            if sent <= 0 { return false }
            offset += sent
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends a whole response.
    @discardableResult
    func respond(_ status: Int, _ body: String = "", fields: [String] = []) -> Bool {
        let lines = ["HTTP/1.1 \(status) X", "Content-Length: \(body.utf8.count)"] + fields
        return send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// Makes closing send a reset.
    func armReset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    private func receive() -> Bool {
        let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
        guard count > 0 else { return false }
        buffer += chunk[..<count]
        return true
    }
}

import Glibc
import TestSupport

/// A server that costs its clients as little as possible: it discards bodies and answers GET with 1 KiB.
///
/// It never answers `/silent` and does not even read the body of `/unread`. Bodies to `/watched` are recorded in
/// ``arrivals``, and `/endless` continues until the client closes the connection.
final class Sink: Sendable {
    let arrivals = Arrivals()
    private let listener: LoopbackListener

    init() throws {
        listener = try LoopbackListener()
        listener.start { [arrivals] in Self.serve($0, arrivals) }
    }

    var url: String { "http://127.0.0.1:\(listener.port)" }

    func stop() { listener.stop() }

    private static let answer =
        Array("HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n\r\n".utf8) + [UInt8](repeating: 97, count: 1024)
    private static let empty = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
    private static let proceed = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    private static func serve(_ descriptor: Int32, _ arrivals: Arrivals) {
        defer { close(descriptor) }
        var one: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var held = 0
        while true {
            var end: Int?
            while end == nil {
                let count = unsafe buffer.withUnsafeMutableBytes { all in
                    unsafe recv(descriptor, all.baseAddress.map { unsafe $0 + held }, all.count - held, 0)
                }
                guard count > 0 else { return }
                held += count
                end = Self.end(of: buffer[..<held])
                if end == nil, held == buffer.count { return }
            }
            guard let end else { return }
            let head = String(decoding: buffer[..<end], as: UTF8.self)
            if head.contains(" /unread ") { while recvIsOpen(descriptor) { sleep(1) } }
            if head.contains(" /silent ") {
                while unsafe recv(descriptor, &buffer, buffer.count, 0) > 0 {}
                return
            }
            if head.contains(" /endless ") {
                guard send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 50)\r\n\r\n".utf8), to: descriptor) else {
                    return
                }
                while send(buffer, to: descriptor) {}
                return
            }
            let isWatched = head.contains(" /watched ")
            if isWatched { arrivals.begin(held - end) }
            var left = length(in: head) - (held - end)
            let isGet = head.hasPrefix("GET")
            if head.lowercased().contains("100-continue") { guard send(proceed, to: descriptor) else { return } }
            if left < 0 {
                // The next request came with this one.
                let rest = Array(buffer[(held + left)..<held])
                buffer.replaceSubrange(0..<rest.count, with: rest)
                held = rest.count
                left = 0
            } else {
                held = 0
            }
            while left > 0 {
                let count = unsafe recv(descriptor, &buffer, min(left, buffer.count), 0)
                guard count > 0 else { return }
                left -= count
                if isWatched { arrivals.add(count) }
            }
            if isWatched { arrivals.end() }
            guard send(isGet ? answer : empty, to: descriptor) else { return }
        }
    }

    private static func recvIsOpen(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(0x2000), revents: 0)
        return unsafe poll(&entry, 1, 0) == 0
    }

    private static func end(of bytes: ArraySlice<UInt8>) -> Int? {
        var index = bytes.startIndex
        while index + 3 < bytes.endIndex {
            if bytes[index] == 13, bytes[index + 1] == 10, bytes[index + 2] == 13, bytes[index + 3] == 10 {
                return index + 4
            }
            index += 1
        }
        return nil
    }

    private static func length(in head: String) -> Int {
        for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix("content-length:") {
            return line.split(separator: ":").last.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        }
        return 0
    }

    private static func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            == bytes.count
    }
}

import Glibc
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

/// Answers every request with 200 and keeps every byte that came.
private final class RawServer: Sendable {
    private let listener: LoopbackListener
    private let heads = Mutex<[[UInt8]]>([])

    init() throws {
        listener = try LoopbackListener()
        listener.start { [self] descriptor in
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 4096)
            let end = Array("\r\n\r\n".utf8)
            let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
            while true {
                let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
                if count <= 0 { break }
                bytes += chunk[..<count]
                if bytes.suffix(4) == end[...] {
                    let head = bytes
                    heads.withLock { $0.append(head) }
                    bytes = []
                    _ = unsafe send(descriptor, answer, answer.count, Int32(MSG_NOSIGNAL))
                }
            }
            close(descriptor)
        }
    }

    var authority: String { "127.0.0.1:\(listener.port)" }
    var all: [[UInt8]] { heads.withLock { $0 } }
    func stop() { listener.stop() }
}

extension Live {
    @Suite struct HygieneTests {
        private static let own: Set<String> = [
            "connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te",
            "transfer-encoding", "upgrade",
        ]

        @Test("random methods, paths and fields go over the wire byte for byte, or nothing of them does")
        func fuzz() async throws {
            let server = try RawServer()
            defer { server.stop() }
            let seed = UInt64.random(in: 0 ... .max)
            var random = SplitMix(state: seed)
            let pieces = [
                "\r", "\n", "\0", " ", "\t", ";", ":", "a", "é", "%0d%0a", "\r\nX-Evil: 1", "\u{7F}", "@", "#", "\"",
            ]
            let names = [
                "X-A", "x;", "X-A:", " X", "X\r\nEvil", "é", "", "Host", "Content-Length", "Transfer-Encoding", "x_y",
            ]
            func text() -> String {
                (0..<Int.random(in: 0...4, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
                    .joined()
            }
            try await withSession {
                $0.decodesContent = false
                $0.connectTimeout = .seconds(60)
            } _: { session in
                var sent = 0
                for _ in 0..<1500 {
                    var fields: HTTPFields = [.accept: "*/*"]
                    for _ in 0..<Int.random(in: 0...3, using: &random) {
                        guard let name = HTTPField.Name(names.randomElement(using: &random) ?? "") else { continue }
                        let value = Array(text().utf8) + (Bool.random(using: &random) ? [0xE4, 0xFF] : [])
                        fields.append(
                            Bool.random(using: &random)
                                ? HTTPField(name: name, value: value) : HTTPField(name: name, lenientValue: value))
                    }
                    let path = "/" + (Int.random(in: 0..<3, using: &random) == 0 ? text() : "a%20b?c;d")
                    let method = HTTPRequest.Method(Bool.random(using: &random) ? "GET" : "X\(text())") ?? .get
                    let request = HTTPRequest(
                        method: method, scheme: "http", authority: server.authority, path: path, headerFields: fields)
                    let error = await failure { () async throws(TransferError) in try await session.data(for: request) }
                    guard error == nil else {
                        #expect(error?.code == .badRequest, "seed \(seed): \(String(describing: error))")
                        continue
                    }
                    sent += 1
                    var expected = Array("\(method.rawValue) \(request.path ?? "") HTTP/1.1\r\n".utf8)
                    expected += Array("Host: \(server.authority)\r\n".utf8)
                    for field in request.headerFields where !Self.own.contains(field.name.canonicalName) {
                        var value = unsafe field.withUnsafeBytesOfValue { unsafe Array($0) }[...]
                        while let first = value.first, first == 32 || first == 9 { value.removeFirst() }
                        while let last = value.last, last == 32 || last == 9 { value.removeLast() }
                        expected +=
                            Array("\(field.name.rawName):".utf8) + (value.isEmpty ? [] : [32] + value) + [13, 10]
                    }
                    expected += [13, 10]
                    #expect(server.all.count == sent && server.all.last == expected, "seed \(seed)")
                    let lines = (server.all.last ?? []).split(separator: 10, omittingEmptySubsequences: false)
                    #expect(!lines.contains { $0.starts(with: "X-Evil".utf8) }, "seed \(seed)")
                }
                #expect(sent > 100)
            }
        }
    }
}

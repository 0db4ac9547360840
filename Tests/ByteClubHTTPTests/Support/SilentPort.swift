import Glibc
import HTTPTypes
import TestSupport

/// A port whose queue of connections is full: who connects gets no answer.
final class SilentPort {
    let request: HTTPRequest
    private let listener: LoopbackListener
    private let clients: [Int32]

    init() throws {
        listener = try LoopbackListener(backlog: 0)
        request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(listener.port)", path: "/")
        var address = LoopbackListener.address(port: listener.port)
        clients = (0..<4).map { _ in
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    _ = unsafe connect(client, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            return client
        }
    }

    deinit { for client in clients { close(client) } }
}

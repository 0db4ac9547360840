import Glibc
import HTTPTypes

/// A port whose queue of connections is full: who connects gets no answer.
final class SilentPort {
    let request: HTTPRequest
    private var descriptors: [Int32] = []

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        descriptors = [listener]
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var clients: [Int32] = []
        let isReady = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard
                    unsafe bind(listener, pointer, length) == 0 && listen(listener, 0) == 0
                        && getsockname(listener, pointer, &length) == 0
                else { return false }
                for _ in 0..<4 {
                    let client = socket(
                        AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
                    _ = unsafe Glibc.connect(client, pointer, length)
                    clients.append(client)
                }
                return true
            }
        }
        descriptors += clients
        guard isReady else { throw FaultServer.ServerFailure(errno: errno) }
        let port = UInt16(bigEndian: address.sin_port)
        request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: "/")
    }

    deinit { for descriptor in descriptors { close(descriptor) } }
}

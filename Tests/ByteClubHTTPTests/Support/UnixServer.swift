import Glibc
import TestSupport

/// An HTTP server behind a Unix socket that answers every request with the host it was asked for.
final class UnixServer: Sendable {
    private let descriptor: Int32

    init?(_ path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = path.utf8.map { CChar(bitPattern: $0) }
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe withUnsafeMutableBytes(of: &pointer.pointee.sun_path) { room in
                for (index, byte) in bytes.enumerated() where index < room.count - 1 {
                    unsafe room[index] = UInt8(bitPattern: byte)
                }
            }
            return unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                    && listen(descriptor, 8) == 0
            }
        }
        guard isBound else {
            close(descriptor)
            return nil
        }
        let listening = descriptor
        BackgroundThread.start {
            while true {
                let connection = accept(listening, nil, nil)
                if connection < 0 { break }
                let peer = Peer(connection)
                while let request = peer.readHead() { peer.respond(200, request["host"] ?? "") }
                close(connection)
            }
        }
    }

    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    deinit { close(descriptor) }
}

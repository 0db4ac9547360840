import CLinux
import Glibc

/// The datagram socket on which systemd hears from a service.
public final class NotifySocket: Sendable {
    private let descriptor: Int32

    /// Makes the socket at a path, or with a leading `@` at an abstract name; nil when that cannot be.
    public init?(_ name: String, timeout seconds: Int = 20) {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let path = name.hasPrefix("@") ? [0] + name.utf8.dropFirst() : Array(name.utf8)
        var address = sockaddr_un()
        guard descriptor >= 0, path.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
        }
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if code != 0 { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The next message; nil when none comes in time.
    public func receive() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        return count >= 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }
}

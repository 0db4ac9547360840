import Glibc
import Synchronization

/// Notifies systemd that the service is ready, once, over the datagram socket in `NOTIFY_SOCKET` (sd_notify(3)).
final class ServiceNotifier: Sendable {
    private let path: [UInt8]
    private let isSent = Atomic(false)

    /// Finds the socket; nil unless systemd expects a notification.
    init?(_ environment: [String: String]) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@"),
            path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        // A leading @ stands for NUL: an abstract socket.
        self.path = path.hasPrefix("@") ? [0] + path.utf8.dropFirst() : Array(path.utf8)
    }

    /// Reports that the service is ready; errors are ignored, since systemd would be the one to receive them.
    func ready() {
        if isSent.exchange(true, ordering: .relaxed) { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let bytes = Array("READY=1".utf8)
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}

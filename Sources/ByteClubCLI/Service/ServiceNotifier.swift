import Glibc
import Synchronization

/// Tells systemd once that the work has begun, over the datagram socket that `NOTIFY_SOCKET` names (sd_notify(3)).
final class ServiceNotifier: Sendable {
    private let path: [UInt8]
    private let isSent = Atomic(false)

    /// Finds the socket; nil when systemd did not start this program, or asks for nothing.
    init?(_ environment: [String: String]) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@"),
            path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        // A leading @ stands for a NUL: a name that is in no directory.
        self.path = path.hasPrefix("@") ? [0] + path.utf8.dropFirst() : Array(path.utf8)
    }

    /// Says that the service is ready; when that fails there is nobody to tell.
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

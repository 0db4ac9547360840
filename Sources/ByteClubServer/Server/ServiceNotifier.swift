import Glibc

/// Tells systemd how the server stands, over the datagram socket that `NOTIFY_SOCKET` names (sd_notify(3)).
struct ServiceNotifier: Sendable {
    /// How often systemd wants to hear that the server lives; nil when it does not.
    let watchdogInterval: Duration?
    private let path: [UInt8]

    /// Finds the socket; nil when the server was not started by systemd, or it asks for nothing.
    init?(environment: [String: String]) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@"),
            path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        // A leading @ stands for a NUL: a name that is in no directory.
        self.path = path.hasPrefix("@") ? [0] + path.utf8.dropFirst() : Array(path.utf8)
        let isForThis = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        watchdogInterval = environment["WATCHDOG_USEC"].flatMap { Int64($0) }
            .flatMap { $0 > 0 && isForThis ? .microseconds($0) : nil }
    }

    /// Sends assignments, one a line, as in `READY=1`; when that fails there is nobody to tell.
    func send(_ state: String) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let bytes = Array(state.utf8)
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}

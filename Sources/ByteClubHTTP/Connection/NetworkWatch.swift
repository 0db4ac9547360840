import CLibcurl
import Glibc

/// Notices from the system that the network has changed (netlink(7), rtnetlink(7)).
///
/// Belongs to one thread.
final class NetworkWatch {
    /// Becomes readable when the network has changed.
    let descriptor: Int32

    /// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE.
    private static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
    private static let netlink: Int32 = 16

    /// Begins to listen; nil where the system does not allow it.
    init?() {
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(Self.netlink, kind, 0)
        guard descriptor >= 0 else { return nil }
        // struct sockaddr_nl: the family, padding, the port that the system chooses, the groups.
        var address = (UInt16(Self.netlink), UInt16(0), UInt32(0), Self.groups)
        let isBound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<(UInt16, UInt16, UInt32, UInt32)>.size))
            }
        }
        guard isBound == 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }

    /// Discards all notices; their content does not matter.
    func drain(with buffer: UnsafeMutableRawBufferPointer) {
        while true {
            let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
            guard count > 0 || count < 0 && errno == EINTR else { return }
        }
    }
}

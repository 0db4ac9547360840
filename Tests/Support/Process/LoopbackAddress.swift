import Glibc

/// An address of this machine's loopback network, 127.0.0.0/8, each of which is a household of its own to a server.
public struct LoopbackAddress: Hashable, Sendable {
    /// Where servers listen: 127.0.0.1.
    public static let server = LoopbackAddress(0, 1)

    private let bits: UInt32

    /// The address 127.0.`third`.`fourth`.
    public init(_ third: UInt8, _ fourth: UInt8) { bits = 0x7F00_0000 | UInt32(third) << 8 | UInt32(fourth) }

    /// Lets a socket connect from this address; false when it cannot.
    public func bind(_ descriptor: Int32) -> Bool {
        // IP_BIND_ADDRESS_NO_PORT: the port is picked when the socket connects, and only has to be free towards that
        // server.
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_IP), 24, &yes, socklen_t(MemoryLayout<Int32>.size))
        return unsafe withAddress(port: 0) { unsafe Glibc.bind(descriptor, $0, $1) } == 0
    }

    /// Connects a socket to a port at this address; true also when a socket that does not wait is on its way.
    public func connect(_ descriptor: Int32, port: UInt16) -> Bool {
        unsafe withAddress(port: port) { unsafe Glibc.connect(descriptor, $0, $1) } == 0 || errno == EINPROGRESS
    }

    private func withAddress(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = LoopbackListener.address(port: port)
        address.sin_addr.s_addr = bits.bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

import NIOCore

extension IPAddress {
    /// The address of a connection's end; nil for what is not of the Internet.
    init?(_ address: SocketAddress?) {
        // In the kernel's structures the address follows the family, the port and, for IPv6, the flow's label.
        switch address {
        case .v4(let four): self.init(bytes: unsafe withUnsafeBytes(of: four.address) { unsafe Array($0[4..<8]) })
        case .v6(let six): self.init(bytes: unsafe withUnsafeBytes(of: six.address) { unsafe Array($0[8..<24]) })
        default: return nil
        }
    }
}

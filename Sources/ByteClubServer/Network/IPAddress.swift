import Glibc
import NIOCore

/// An IPv4 or IPv6 address; an IPv4 address that is written as IPv6 is the same address.
struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    private static let mappedPrefix: UInt128 = 0xFFFF << 32

    /// The 128 bits; IPv4 addresses are `::ffff:a.b.c.d`.
    let bits: UInt128

    /// Whether it is an IPv4 address.
    var isIPv4: Bool { bits >> 32 == 0xFFFF }

    /// Whether it is the wildcard for every address of a machine: `0.0.0.0` or `::`.
    var isUnspecified: Bool { bits == 0 || bits == Self.mappedPrefix }
}

extension IPAddress {
    /// Creates an address from its 4 or 16 bytes on the wire.
    init(bytes: some Collection<UInt8>) {
        let number = bytes.reduce(0) { $0 << 8 | UInt128($1) }
        bits = bytes.count == 4 ? Self.mappedPrefix | number : number
    }

    /// Reads an address, in brackets or not; nil when the text is anything else.
    init?(_ text: some StringProtocol) {
        var text = text[...]
        if text.first == "[", text.last == "]" { text = text.dropFirst().dropLast() }
        if let zone = text.firstIndex(of: "%") { text = text[..<zone] }
        let characters = String(text)
        var bytes = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET, characters, &bytes) == 1 {
            self.init(bytes: bytes.prefix(4))
        } else if unsafe inet_pton(AF_INET6, characters, &bytes) == 1 {
            self.init(bytes: bytes)
        } else {
            return nil
        }
    }

    /// The part that one network or machine has: an IPv4 address, or the first 64 bits of an IPv6 one.
    var network: IPAddress { isIPv4 ? self : IPAddress(bits: (bits >> 64) << 64) }

    /// The part that one customer of a provider has at most: an IPv4 address, or the first 48 bits of an IPv6 one.
    var site: IPAddress { isIPv4 ? self : IPAddress(bits: (bits >> 80) << 80) }

    /// The 4 or 16 bytes of the address as they are on the wire.
    var bytes: [UInt8] {
        let all = (0..<16).map { UInt8(truncatingIfNeeded: bits >> UInt128(120 - 8 * $0)) }
        return isIPv4 ? Array(all.suffix(4)) : all
    }

    /// The address as people write it.
    var description: String {
        var buffer = [CChar](repeating: 0, count: 64)
        _ = unsafe inet_ntop(
            isIPv4 ? AF_INET : AF_INET6, bytes, &buffer, socklen_t(buffer.count))
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The address of an end of a connection; nil for a socket that is not IP.
    init?(_ address: SocketAddress?) {
        // In the kernel's structures the address follows the family, the port and, for IPv6, the flow's label.
        switch address {
        case .v4(let four): self.init(bytes: unsafe withUnsafeBytes(of: four.address) { unsafe Array($0[4..<8]) })
        case .v6(let six): self.init(bytes: unsafe withUnsafeBytes(of: six.address) { unsafe Array($0[8..<24]) })
        default: return nil
        }
    }
}

/// The addresses that share their first bits, as in `10.0.0.0/8` or `2001:db8::/32`; without a length, one address.
struct AddressRange: Hashable, Sendable, CustomStringConvertible {
    private let first: IPAddress
    private let length: Int

    /// Reads an address or a range in CIDR form; nil when the text is anything else.
    init?(_ text: some StringProtocol) {
        let halves = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let base = halves.first, let address = IPAddress(base) else { return nil }
        let width = address.isIPv4 && !base.contains(":") ? 32 : 128
        var length = width
        if halves.count == 2 {
            guard let given = UInt8(halves[1]), Int(given) <= width else { return nil }
            length = Int(given)
        }
        self.length = length + 128 - width
        first = IPAddress(bits: address.bits & Self.mask(self.length))
    }

    /// Whether an address is one of them.
    func contains(_ address: IPAddress) -> Bool { address.bits & Self.mask(length) == first.bits }

    /// The range in CIDR form.
    var description: String { "\(first)/\(first.isIPv4 ? length - 96 : length)" }

    private static func mask(_ length: Int) -> UInt128 { length == 0 ? 0 : UInt128.max << UInt128(128 - length) }
}

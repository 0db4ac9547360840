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

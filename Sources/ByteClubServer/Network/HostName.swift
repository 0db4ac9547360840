/// The host of a URL, with its port or without: what `Host` and its likes hold.
enum HostName {
    private static let maximumBytes = 255

    /// Whether a text is a name, an IPv4 address or an IPv6 address in brackets, and after a colon a port or nothing;
    /// RFC 9110, 7.2.
    ///
    /// Of what a name may hold by RFC 3986 it takes what names of machines hold.
    static func isValid(_ text: some StringProtocol) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count <= maximumBytes else { return false }
        let end = bytes.lastIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? bytes.firstIndex(of: UInt8(ascii: ":"))
        let (host, port) = (bytes[..<(end ?? bytes.count)], bytes[(end ?? bytes.count)...])
        return isHost(host) && isPort(port)
    }

    private static func isHost(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.first == UInt8(ascii: "[") else { return !bytes.isEmpty && bytes.allSatisfy(isNameByte) }
        let text = String(decoding: bytes, as: UTF8.self)
        return bytes.last == UInt8(ascii: "]") && text.contains(":") && IPAddress(text) != nil
    }

    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.first == UInt8(ascii: ":") else { return bytes.isEmpty }
        let digits = bytes.dropFirst()
        return digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && (digits.isEmpty || UInt16(String(decoding: digits, as: UTF8.self)) != nil)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "-._~".utf8.contains(byte)
        }
    }
}

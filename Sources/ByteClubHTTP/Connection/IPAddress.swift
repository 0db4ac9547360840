import Glibc

/// The addresses of IP as text, without brackets and zones.
enum IPAddress {
    /// Whether the text is an address of version 4 or 6.
    static func isOne(_ text: String) -> Bool { bytes(text) != nil }

    /// The 4 or 16 bytes of an address; nil if it is none.
    static func bytes(_ text: String) -> [UInt8]? {
        guard !text.utf8.contains(0) else { return nil }
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: 16)
            if unsafe inet_pton(family, text, &bytes) == 1 { return Array(bytes.prefix(count)) }
        }
        return nil
    }
}

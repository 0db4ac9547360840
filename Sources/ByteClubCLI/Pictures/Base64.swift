/// Base64 as terminals read it (RFC 4648, section 4).
enum Base64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Four letters for each three bytes, the last ones padded with `=`.
    static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            var group = 0
            for byte in part { group = group << 8 | Int(byte) }
            group <<= 8 * (3 - part.count)
            for place in 0..<4 {
                text.append(place <= part.count ? letters[group >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return text
    }
}

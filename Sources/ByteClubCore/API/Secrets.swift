import Crypto

/// The proof that who redeems a code is who asked for it (RFC 7636), by the method S256 alone.
public enum PKCE {
    /// The challenge that belongs to a verifier: its SHA-256 in the URL-safe alphabet of RFC 4648 section 5, unpadded.
    public static func challenge(_ verifier: String) -> String {
        var text: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in SHA256.hash(data: Array(verifier.utf8)) {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> UInt32(count) & 63)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether a text has a challenge's form: 43 characters of that alphabet.
    public static func isChallenge(_ text: String) -> Bool {
        text.utf8.count == 43 && text.utf8.allSatisfy(alphabet.contains)
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}

/// A comparison whose time does not depend on where two texts differ.
public enum ConstantTime {
    /// Whether two texts have the same bytes.
    public static func equal(_ left: String, _ right: String) -> Bool {
        SHA256.hash(data: Array(left.utf8)) == SHA256.hash(data: Array(right.utf8))
    }
}

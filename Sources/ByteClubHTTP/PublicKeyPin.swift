/// The SHA-256 of a server's public key, by which the server is known whatever its certificate says.
///
/// The key is the certificate's `SubjectPublicKeyInfo` in DER, as in RFC 7469 and in curl's `--pinnedpubkey`.
public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
    /// 32 bytes in Base64 without the `=` at its end.
    private let digits: String

    /// Reads `sha256//` or `sha256=` and the hash in Base64, be it the usual one or that for addresses; nil when the text
    /// is anything else.
    public init?(_ text: String) {
        guard let mark = ["sha256//", "sha256="].first(where: text.hasPrefix) else { return nil }
        var rest = text.dropFirst(mark.count)
        if rest.last == "=" { rest.removeLast() }
        digits = String(rest.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        let isBase64 = digits.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "+"), UInt8(ascii: "/"): true
            default: false
            }
        }
        // 43 digits are two bits more than 32 bytes have, and those are zero.
        guard isBase64, digits.utf8.count == 43, let last = digits.last, "AEIMQUYcgkosw048".contains(last) else {
            return nil
        }
    }

    /// The pin as libcurl takes it: `sha256//` and Base64.
    public var description: String { "sha256//\(digits)=" }
}

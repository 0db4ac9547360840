import Crypto
import FoundationEssentials

/// The proof that who redeems a code is who asked for it (RFC 7636), by the method S256 alone.
enum PKCE {
    /// The challenge that belongs to a verifier.
    static func challenge(_ verifier: String) -> String {
        Data(SHA256.hash(data: Array(verifier.utf8))).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Whether a text has a challenge's form: 43 characters of the URL-safe alphabet.
    static func isChallenge(_ text: String) -> Bool {
        text.utf8.count == 43
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

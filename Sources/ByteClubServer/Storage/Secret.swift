import ByteClubCore
import Crypto
import FoundationEssentials

/// Random texts that nobody guesses.
enum Secret {
    /// Hexadecimal digits of this many bytes from the system's secure generator.
    static func text(bytes count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.encode((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// What is kept of a secret that somebody else holds: its SHA-256.
    static func hash(_ text: String) -> Data { Data(SHA256.hash(data: Array(text.utf8))) }
}

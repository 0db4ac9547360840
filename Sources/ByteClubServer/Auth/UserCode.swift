/// The short code that a program shows and a member types on the page `/device` (RFC 8628 section 6.1).
struct UserCode: Hashable, Sendable, CustomStringConvertible {
    /// Letters that nobody mistakes for each other and that make no words: 34 bits in eight of them.
    private static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ")
    private static let count = 8

    private let letters: String

    /// A code by chance.
    init() {
        var generator = SystemRandomNumberGenerator()
        letters = String((0..<Self.count).compactMap { _ in Self.alphabet.randomElement(using: &generator) })
    }

    /// Reads what somebody typed, whatever the case and with or without hyphens and blanks; nil when it is no code.
    init?(_ text: String) {
        guard text.utf8.count <= 32 else { return nil }
        letters = text.uppercased().filter { $0 != "-" && !$0.isWhitespace }
        guard letters.count == Self.count, letters.allSatisfy(Self.alphabet.contains) else { return nil }
    }

    /// The code as people read it: `WDJB-MJHT`.
    var description: String { letters.prefix(Self.count / 2) + "-" + letters.suffix(Self.count / 2) }
}

import ByteClubCore

/// Random texts that nobody guesses.
enum Secret {
    /// Hexadecimal digits of this many bytes from the system's secure generator.
    static func text(bytes count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.encode((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}

import Glibc

/// Real audio that is made by calculation: WAV, 16 bits, one channel (RIFF, "Multimedia Programming Interface and Data
/// Specifications 1.0", 1991).
public enum WaveAudio {
    /// Samples per second.
    public static let rate = 16_000

    /// How many bytes ``tone(seconds:frequency:)`` has.
    public static func length(seconds: Double) -> Int { 44 + Int(seconds * Double(rate)) * 2 }

    /// A tone that rises, so that no two parts of the file are equal.
    ///
    /// - Parameters:
    ///   - seconds: How long it sounds; a second has 32,000 bytes, and the head 44.
    ///   - frequency: Where it begins, in Hz.
    /// - Returns: The whole file, the same for the same parameters.
    public static func tone(seconds: Double, frequency: Double) -> [UInt8] {
        let count = Int(seconds * Double(rate))
        var bytes = head(dataBytes: count * 2)
        bytes.reserveCapacity(bytes.count + count * 2)
        var phase = 0.0
        for index in 0..<count {
            // An octave every ten seconds.
            phase += frequency * exp2(Double(index) / Double(10 * rate)) / Double(rate)
            let sample = Int16(sin(2 * .pi * phase) * 12_000)
            unsafe withUnsafeBytes(of: sample.littleEndian) { unsafe bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    private static func head(dataBytes: Int) -> [UInt8] {
        func number<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
            unsafe withUnsafeBytes(of: value.littleEndian) { unsafe Array($0) }
        }
        let format =
            number(UInt16(1)) + number(UInt16(1)) + number(UInt32(rate)) + number(UInt32(rate * 2)) + number(UInt16(2))
            + number(UInt16(16))
        return Array("RIFF".utf8) + number(UInt32(36 + dataBytes)) + Array("WAVEfmt ".utf8) + number(UInt32(16))
            + format
            + Array("data".utf8) + number(UInt32(dataBytes))
    }
}

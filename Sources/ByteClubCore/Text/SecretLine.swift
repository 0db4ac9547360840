/// What the keys amount to that are typed at a terminal which shows none of them.
///
/// The terminal hands over each key by itself, so that Ctrl-C is a key like any other: nothing ends the program while
/// the terminal's echo is off.
package struct SecretLine {
    /// What a key leads to.
    package enum Outcome: Equatable, Sendable {
        /// More keys are waited for.
        case more
        /// The line is complete.
        case done
        /// Ctrl-C.
        case interrupted
        /// The end of the input, before anything was typed.
        case ended
    }

    /// The line so far.
    package private(set) var bytes: [UInt8] = []

    /// Creates an empty line.
    package init() {}

    /// Adds one key.
    package mutating func take(_ key: UInt8) -> Outcome {
        switch key {
        case 0x0A, 0x0D: return .done
        case 0x03: return .interrupted
        case 0x04: return bytes.isEmpty ? .ended : .done
        case 0x08, 0x7F: _ = bytes.popLast()
        case 0x15: bytes = []
        case 0..<0x20: break
        default: bytes.append(key)
        }
        return .more
    }
}

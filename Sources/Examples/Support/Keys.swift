/// A key of a terminal.
package enum Key: Equatable, Sendable {
    case up
    case down
    case enter
    case backspace
    /// Ctrl-C.
    case interrupt
    /// Ctrl-D.
    case end
    case text(Character)
    /// No key: the terminal has another size, or another program used it for a while.
    case redraw
}

/// Reads keys from the bytes that a terminal sends.
///
/// A terminal sends the bytes of an arrow key at once, so the Escape key is one that nothing follows; it is dropped, as
/// are sequences for unknown keys and bytes that are no UTF-8.
package struct KeyParser: Sendable {
    private var pending: [UInt8] = []

    private static let escape: UInt8 = 0x1B
    /// No known key has a longer sequence.
    private static let mostBytes = 16

    package init() {}

    /// The keys that are complete with these bytes.
    package mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
        var keys: [Key] = []
        for byte in bytes { if let key = take(byte) { keys.append(key) } }
        if pending == [Self.escape] { pending = [] }
        return keys
    }

    private mutating func take(_ byte: UInt8) -> Key? {
        guard let first = pending.first else { return begin(byte) }
        if first == Self.escape { return takeOfSequence(byte) }
        guard byte & 0xC0 == 0x80 else {
            pending = []
            return begin(byte)
        }
        pending.append(byte)
        guard pending.count == Self.length(of: first) else { return nil }
        defer { pending = [] }
        return String(validating: pending, as: UTF8.self)?.first.map { .text($0) }
    }

    private mutating func begin(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x03, 0x1C: return .interrupt
        case 0x04: return .end
        case 0x08, 0x7F: return .backspace
        case 0x0A, 0x0D: return .enter
        case 0x20..<0x7F: return .text(Character(Unicode.Scalar(byte)))
        case Self.escape: pending = [byte]
        default: if Self.length(of: byte) > 1 { pending = [byte] }
        }
        return nil
    }

    /// Reads `ESC [ … letter` and `ESC O letter`.
    private mutating func takeOfSequence(_ byte: UInt8) -> Key? {
        if byte == Self.escape {
            pending = [byte]
            return nil
        }
        let isIntroduced = pending.count > 1
        if !isIntroduced, byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") {
            pending.append(byte)
            return nil
        }
        if isIntroduced, (0x20...0x3F).contains(byte), pending.count < Self.mostBytes {
            pending.append(byte)
            return nil
        }
        pending = []
        switch byte {
        case UInt8(ascii: "A") where isIntroduced: return .up
        case UInt8(ascii: "B") where isIntroduced: return .down
        default: return nil
        }
    }

    /// The bytes of a character in UTF-8 by its first one; 0 for a byte that begins none.
    private static func length(of first: UInt8) -> Int {
        switch first {
        case 0..<0x80: 1
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 0
        }
    }
}

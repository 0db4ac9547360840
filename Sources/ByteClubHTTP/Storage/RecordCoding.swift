/// Values one after another in bytes, each with its length: the form of what this module keeps in files.
struct RecordWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put(_ number: Int64) {
        var rest = UInt64(bitPattern: number)
        for _ in 0..<8 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    mutating func put(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func put(_ content: some Collection<UInt8>) {
        put(Int64(content.count))
        bytes.append(contentsOf: content)
    }

    mutating func put(_ text: String) { put(text.utf8) }
}

/// Reads what a ``RecordWriter`` wrote; anything else is an error, never a trap.
struct RecordReader {
    /// The bytes are not what was to be read.
    struct Damage: Error {}

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number() throws(Damage) -> Int64 {
        var value: UInt64 = 0
        for byte in try take(8).reversed() { value = value << 8 | UInt64(byte) }
        return Int64(bitPattern: value)
    }

    mutating func flag() throws(Damage) -> Bool {
        switch try take(1).first {
        case 0: false
        case 1: true
        default: throw Damage()
        }
    }

    mutating func content() throws(Damage) -> ArraySlice<UInt8> {
        guard let count = Int(exactly: try number()) else { throw Damage() }
        return try take(count)
    }

    mutating func text() throws(Damage) -> String {
        guard let text = String(validating: try content(), as: UTF8.self) else { throw Damage() }
        return text
    }

    private mutating func take(_ count: Int) throws(Damage) -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest.count else { throw Damage() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

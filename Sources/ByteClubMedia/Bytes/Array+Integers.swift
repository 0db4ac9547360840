extension [UInt8] {
    /// The big-endian number at `offset`, or nil when it is not all there.
    func uint16(at offset: Int) -> Int? {
        guard offset >= 0, offset <= count - 2 else { return nil }
        return Int(self[offset]) << 8 | Int(self[offset + 1])
    }

    mutating func append(uint16 value: Int) {
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    mutating func append(uint32 value: UInt32) {
        append(uint16: Int(value >> 16))
        append(uint16: Int(value & 0xFFFF))
    }

    func starts(with text: StaticString, at offset: Int = 0) -> Bool {
        let size = text.utf8CodeUnitCount
        guard offset >= 0, offset <= count - size else { return false }
        return unsafe self[offset..<offset + size].elementsEqual(
            UnsafeBufferPointer(start: text.utf8Start, count: size))
    }
}

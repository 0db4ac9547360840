/// What one scan of a picture does, as its header says (ITU T.81, B.2.3).
struct ScanHeader: Sendable, Hashable {
    /// The numbers of the components that it goes through.
    let components: [UInt8]
    /// How many of a block's 64 coefficients it goes through.
    let coefficients: Int
    /// Whether it adds a bit to coefficients that earlier scans began.
    let isRefining: Bool

    /// Reads the body that follows the segment's length; nil when it is cut short, where decoders end.
    init?(body: ArraySlice<UInt8>) {
        guard let count = body.first.map(Int.init), body.count >= 2 * count + 4 else { return nil }
        let names = body.dropFirst()
        components = (0..<count).map { names[names.startIndex + 2 * $0] }
        let band = Array(names.dropFirst(2 * count))
        coefficients = max(1, Int(band[1]) - Int(band[0]) + 1)
        isRefining = band[2] >> 4 > 0
    }
}

/// Finds the scans of a JPEG in its bytes as a decoder does, without decoding: each byte is looked at once.
///
/// In coded data a marker's first byte is followed by 0 or by the number of a restart, so every other marker ends a
/// scan, wherever it stands. Segments are stepped over by their lengths; nothing counts after the end of the picture.
struct ScanWalk: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var offset = 2

    /// Begins after the marker that every JPEG starts with.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next scan; nil after the last.
    mutating func next() -> ScanHeader? {
        while offset < bytes.count, let mark = bytes[offset...].firstIndex(of: 0xFF),
            // Any number of bytes may fill the room before a marker's second byte.
            let code = bytes[mark...].firstIndex(where: { $0 != 0xFF })
        {
            offset = code + 1
            switch bytes[code] {
            case 0xD9: offset = bytes.count
            case 0x00...0xBF, 0xD0...0xD8: continue
            case let marker:
                guard let length = bytes.uint16(at: offset) else { return nil }
                // A length counts its own two bytes; decoders take a smaller one for these two.
                let body = bytes[offset + 2..<Swift.min(bytes.count, offset + Swift.max(2, length))]
                offset = body.endIndex
                if marker == 0xDA, let scan = ScanHeader(body: body) { return scan }
            }
        }
        return nil
    }
}

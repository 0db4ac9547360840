/// One marker segment before the first scan: where it lies, not what it holds.
struct Segment: Sendable, Hashable {
    /// The low byte of the marker: 0xE1 is APP1.
    let marker: UInt8
    /// The body's place in the file, after the marker and the length.
    let body: Range<Int>
}

/// Goes from marker to marker by length and reads nothing else (ITU T.81, B.1.1).
struct SegmentWalk: ~Copyable {
    /// More segments than this before the picture is an attack, not a photo; the worst real file seen has 120.
    private static let mostSegments = 10_000
    /// Garbage between segments that is stepped over, in bytes.
    private static let mostGarbage = 65_536

    private var offset = 2
    private var seen = 0
    private var garbage = 0

    init(_ source: borrowing some ByteSource & ~Copyable) throws(MediaError) {
        let start = try source.read(at: 0, count: 3)
        guard start.count == 3, start[0] == 0xFF, start[1] == 0xD8, start[2] == 0xFF else {
            throw MediaError(.notAJPEG, "not a JPEG: it does not begin with FF D8 FF")
        }
    }

    /// The next segment with a length; `damaged` at the end of the file or of the picture.
    mutating func next(_ source: borrowing some ByteSource & ~Copyable) throws(MediaError) -> Segment {
        while true {
            let head = try source.read(at: offset, count: 4)
            guard head.count == 4 else { throw MediaError(.damaged, "the JPEG ends before its picture begins") }
            guard head[0] == 0xFF, head[1] != 0xFF, head[1] != 0 else {
                offset += 1
                garbage += 1
                guard garbage <= Self.mostGarbage else {
                    throw MediaError(.damaged, "the JPEG holds garbage where its headers should be")
                }
                continue
            }
            let marker = head[1]
            guard marker != 0xD9 else { throw MediaError(.damaged, "the JPEG ends before its picture begins") }
            if marker == 0x01 || (0xD0...0xD8).contains(marker) {
                offset += 2
                garbage += 2
                continue
            }
            let length = Int(head[2]) << 8 | Int(head[3])
            seen += 1
            guard length >= 2, seen <= Self.mostSegments else {
                throw MediaError(.damaged, "the JPEG's headers make no sense")
            }
            let body = offset + 4..<offset + 2 + length
            offset = body.upperBound
            return Segment(marker: marker, body: body)
        }
    }
}

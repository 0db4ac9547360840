internal import Glibc

/// Copies what a decoder needs of a JPEG, from its tables to its end, and nothing else (ITU T.81, B.2).
///
/// Application data and comments are left out wherever they stand, and all that follows the picture. Coded data is
/// copied bit for bit, a piece at a time.
struct PictureCopy: ~Copyable {
    private static let pieceSize = 1 << 16

    /// Tables and headers: frames and Huffman tables, arithmetic conditioning, lines, restarts, quantisation.
    static func isNeeded(_ marker: UInt8) -> Bool {
        FrameHeader.isStartOfFrame(marker) || [0xC4, 0xCC, 0xDA, 0xDB, 0xDC, 0xDD].contains(marker)
    }

    private var offset: Int

    static func copy(_ source: some ByteSource, _ write: ([UInt8]) throws(MediaError) -> Void) throws(MediaError) {
        var walk = try SegmentWalk(source)
        while true {
            let segment = try walk.next(source)
            guard isNeeded(segment.marker) else { continue }
            guard try copySegment(segment.marker, segment.body, source, write) else {
                throw MediaError(.damaged, "the JPEG ends before its picture begins")
            }
            guard segment.marker == 0xDA else { continue }
            var copy = PictureCopy(offset: segment.body.upperBound)
            try copy.scans(source, write)
            return
        }
    }

    /// Copies a segment; false and nothing when the file ends in it.
    private static func copySegment(
        _ marker: UInt8, _ body: Range<Int>, _ source: some ByteSource,
        _ write: ([UInt8]) throws(MediaError) -> Void
    ) throws(MediaError) -> Bool {
        let bytes = try source.read(at: body.lowerBound, count: body.count)
        guard bytes.count == body.count else { return false }
        var segment: [UInt8] = []
        segment.append(segment: marker, bytes)
        try write(segment)
        return true
    }

    /// From the first byte of coded data to the end of the picture.
    private mutating func scans(
        _ source: some ByteSource, _ write: ([UInt8]) throws(MediaError) -> Void
    ) throws(MediaError) {
        while let marker = try codedData(source, write) {
            guard marker != 0xD9, let length = try source.read(at: offset + 2, count: 2).uint16(at: 0) else { break }
            // Decoders take a length below its own two bytes for these two.
            let body = offset + 4..<offset + 2 + max(2, length)
            if Self.isNeeded(marker), try !Self.copySegment(marker, body, source, write) { break }
            offset = body.upperBound
        }
        // A truncated picture gets an end, so that no following bytes are read as part of it.
        try write([0xFF, 0xD9])
    }

    /// Copies up to the next marker that is no restart, and gives its low byte; nil at the end of the file.
    private mutating func codedData(
        _ source: some ByteSource, _ write: ([UInt8]) throws(MediaError) -> Void
    ) throws(MediaError) -> UInt8? {
        while true {
            let piece = try source.read(at: offset, count: Self.pieceSize)
            guard !piece.isEmpty else { return nil }
            let end = Self.marker(in: piece)
            if let end {
                try write(Array(piece[..<end]))
                offset += end
                return piece[end + 1]
            }
            // A mark at the end of a piece is looked at again with what follows it.
            let size = piece.last == 0xFF && piece.count > 1 ? piece.count - 1 : piece.count
            try write(size == piece.count ? piece : Array(piece[..<size]))
            offset += size
        }
    }

    /// The place of the first marker that ends coded data.
    private static func marker(in piece: [UInt8]) -> Int? {
        var place = 0
        while let mark = next(0xFF, in: piece, from: place), mark + 1 < piece.count {
            switch piece[mark + 1] {
            case 0x00...0xBF, 0xD0...0xD8: place = mark + 2
            case 0xFF: place = mark + 1
            default: return mark
            }
        }
        return nil
    }

    private static func next(_ byte: UInt8, in piece: [UInt8], from place: Int) -> Int? {
        unsafe piece.withUnsafeBytes { bytes in
            guard place < bytes.count, let base = bytes.baseAddress,
                let found = unsafe memchr(base + place, Int32(byte), bytes.count - place)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }
}

/// The position of one marker segment before the first scan, without its content.
struct Segment: Sendable, Hashable {
    /// The low byte of the marker: 0xE1 is APP1.
    let marker: UInt8
    /// The body's place in the file, after the marker and the length.
    let body: Range<Int>
}

/// Steps from marker to marker by length and reads nothing else (ITU T.81, B.1.1).
struct SegmentWalk: ~Copyable {
    /// More segments than this before the picture is an attack, not a photo; the worst real file seen has 120.
    private static let mostSegments = 10_000
    /// Garbage between segments that is stepped over, in bytes.
    private static let mostGarbage = 65_536

    private var offset = 2
    private var seen = 0
    private var garbage = 0

    init(_ source: some ByteSource) throws(MediaError) {
        let start = try source.read(at: 0, count: 3)
        guard start.count == 3, start[0] == 0xFF, start[1] == 0xD8, start[2] == 0xFF else {
            throw MediaError(.notAJPEG, "not a JPEG: it does not begin with FF D8 FF")
        }
    }

    /// The next segment with a length; `damaged` at the end of the file or of the picture.
    mutating func next(_ source: some ByteSource) throws(MediaError) -> Segment {
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

/// Metadata that is copied together with the pixels of a photo.
struct CarriedMetadata: Sendable, Hashable {
    /// The EXIF structure without its signature.
    var exif: [UInt8]?
    /// The standard XMP packets without their signatures.
    var xmp: [[UInt8]] = []
    /// The whole ICC profile.
    var icc: [UInt8]?

    /// A profile above this is not carried: real ones stay below 0.6 MiB.
    static let largestProfile = 1 << 20

    /// The profile of a photo's pixels; none for CMYK, whose pixels are converted.
    static func profile(of header: JPEGHeader, in source: some ByteSource) throws(MediaError) -> [UInt8]? {
        let size = header.iccRanges.reduce(0) { $0 + $1.count }
        guard header.components != 4, size > 0, size <= largestProfile else { return nil }
        var profile: [UInt8] = []
        for range in header.iccRanges { profile += try source.read(at: range.lowerBound, count: range.count) }
        return profile.count == size ? profile : nil
    }

    /// The JPEG with this metadata after its JFIF segment.
    func spliced(into jpeg: [UInt8]) -> [UInt8] {
        var place = 2
        if jpeg.starts(with: "JFIF\0", at: 6), let length = jpeg.uint16(at: 4), length + 4 <= jpeg.count {
            place = 4 + length
        }
        var result = Array(jpeg.prefix(place))
        if let exif { Self.append(0xE1, "Exif\0\0", [], exif[...], to: &result) }
        for packet in xmp { Self.append(0xE1, "http://ns.adobe.com/xap/1.0/\0", [], packet[...], to: &result) }
        if let icc {
            let size = 65_519
            let total = (icc.count + size - 1) / size
            for part in 0..<total {
                let piece = icc[part * size..<min(icc.count, (part + 1) * size)]
                Self.append(0xE2, "ICC_PROFILE\0", [UInt8(part + 1), UInt8(total)], piece, to: &result)
            }
        }
        return result + jpeg.dropFirst(place)
    }

    private static func append(
        _ marker: UInt8, _ signature: String, _ number: [UInt8], _ body: ArraySlice<UInt8>, to result: inout [UInt8]
    ) {
        let whole = Array(signature.utf8) + number + body
        if whole.count <= 65_533 { result.append(segment: marker, whole) }
    }
}

/// The header of one scan (ITU T.81, B.2.3).
struct ScanHeader: Sendable, Hashable {
    /// The numbers of its components.
    let components: [UInt8]
    /// How many of a block's 64 coefficients it contains.
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
/// scan, at any position. Segments are stepped over by their lengths; everything after the end of the picture is
/// ignored.
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

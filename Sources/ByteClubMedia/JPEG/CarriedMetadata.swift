/// Metadata that goes with the pixels of a photo into a copy of it.
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
    static func profile(
        of header: JPEGHeader, in source: borrowing some ByteSource & ~Copyable
    ) throws(MediaError) -> [UInt8]? {
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
        let length = 2 + signature.utf8.count + number.count + body.count
        guard length <= 65_535 else { return }
        result += [0xFF, marker]
        result.append(uint16: length)
        result += Array(signature.utf8) + number
        result += body
    }
}

@testable import ByteClubMedia

/// JPEGs made for a test.
enum MakingJPEGs {
    /// Four plain quarters: red and green above, blue and white below.
    static func quarters(width: Int = 240, height: Int = 120) throws -> [UInt8] {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                switch (x < width / 2, y < height / 2) {
                case (true, true): pixels += [255, 0, 0]
                case (false, true): pixels += [0, 255, 0]
                case (true, false): pixels += [0, 0, 255]
                case (false, false): pixels += [255, 255, 255]
                }
            }
        }
        let raster = Raster(width: width, height: height, channels: 3, pixels: pixels)
        return try JPEGEncoder().encode(raster, quality: 95)
    }

    /// An EXIF structure with an orientation and a panorama's CustomRendered, in either byte order.
    static func exif(orientation: Int, customRendered: Int? = nil, focal: Int? = nil, isLittle: Bool = true) -> [UInt8]
    {
        func number(_ value: Int, _ size: Int) -> [UInt8] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isLittle ? bytes : bytes.reversed()
        }
        func short(_ tag: Int, _ value: Int) -> [UInt8] {
            number(tag, 2) + number(3, 2) + number(1, 4) + number(value, 2) + [0, 0]
        }
        var details: [UInt8] = []
        if let customRendered { details += short(0xA401, customRendered) }
        if let focal { details += short(0xA405, focal) }
        let head: [UInt8] = (isLittle ? [0x49, 0x49] : [0x4D, 0x4D]) + number(42, 2) + number(8, 4)
        let pointer = number(0x8769, 2) + number(4, 2) + number(1, 4) + number(38, 4)
        return head + number(2, 2) + short(0x0112, orientation) + pointer + number(0, 4)
            + number(details.count / 12, 2) + details + number(0, 4)
    }

    static func with(_ jpeg: [UInt8], exif: [UInt8]? = nil, xmp: String? = nil, icc: [UInt8]? = nil) -> [UInt8] {
        CarriedMetadata(exif: exif, xmp: xmp.map { [Array($0.utf8)] } ?? [], icc: icc).spliced(into: jpeg)
    }

    /// The same file claiming another size in its frame header.
    static func resized(_ jpeg: [UInt8], width: Int, height: Int) -> [UInt8] {
        var jpeg = jpeg
        var offset = 2
        while let length = jpeg.uint16(at: offset + 2) {
            if FrameHeader.isStartOfFrame(jpeg[offset + 1]) {
                jpeg[offset + 5] = UInt8(height >> 8)
                jpeg[offset + 6] = UInt8(height & 255)
                jpeg[offset + 7] = UInt8(width >> 8)
                jpeg[offset + 8] = UInt8(width & 255)
                break
            }
            offset += 2 + length
        }
        return jpeg
    }

    static func decoded(_ jpeg: [UInt8]) throws -> Raster {
        try JPEGDecoder().decode(jpeg, header: JPEGHeader(bytes: jpeg))
    }
}

extension MakingJPEGs {
    /// A marker segment with any body.
    static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        var segment: [UInt8] = [0xFF, marker]
        segment.append(uint16: body.count + 2)
        return segment + body
    }

    static func segment(_ marker: UInt8, _ signature: String, _ body: [UInt8]) -> [UInt8] {
        segment(marker, Array(signature.utf8) + body)
    }

    /// The bytes from the first table on.
    static func picture(_ jpeg: [UInt8]) -> [UInt8] {
        var offset = 2
        while let length = jpeg.uint16(at: offset + 2), jpeg[offset + 1] != 0xDB { offset += 2 + length }
        return Array(jpeg[offset...])
    }
}

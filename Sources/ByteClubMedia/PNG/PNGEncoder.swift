internal import CZlib

/// Writes 8-bit PNG files (ISO/IEC 15948), grey or colour.
enum PNGEncoder {
    static func encode(_ raster: Raster, icc: [UInt8]? = nil) throws(MediaError) -> [UInt8] {
        var header: [UInt8] = []
        header.append(uint32: UInt32(raster.width))
        header.append(uint32: UInt32(raster.height))
        header += [8, raster.channels == 1 ? 0 : 2, 0, 0, 0]
        var png = PNGDecoder.signature
        append("IHDR", header, to: &png)
        if let icc { append("iCCP", Array("ICC profile\0".utf8) + [0] + (try deflated(icc)), to: &png) }
        append("IDAT", try deflated(filtered(raster)), to: &png)
        append("IEND", [], to: &png)
        return png
    }

    /// Each row after the Paeth predictor (9.4), which suits photos.
    private static func filtered(_ raster: Raster) -> [UInt8] {
        let size = raster.rowBytes
        let step = raster.channels
        var result: [UInt8] = []
        result.reserveCapacity((size + 1) * raster.height)
        var above = [UInt8](repeating: 0, count: size)
        for row in 0..<raster.height {
            let line = Array(raster.pixels[row * size..<(row + 1) * size])
            result.append(4)
            for column in 0..<size {
                let left = column >= step ? Int(line[column - step]) : 0
                let corner = column >= step ? Int(above[column - step]) : 0
                let up = Int(above[column])
                let (a, b, c) = (abs(up - corner), abs(left - corner), abs(left + up - 2 * corner))
                let predicted = a <= b && a <= c ? left : b <= c ? up : corner
                result.append(line[column] &- UInt8(truncatingIfNeeded: predicted))
            }
            above = line
        }
        return result
    }

    private static func deflated(_ bytes: [UInt8]) throws(MediaError) -> [UInt8] {
        var size = compressBound(uLong(bytes.count))
        var status = Z_OK
        let result = unsafe [UInt8](unsafeUninitializedCapacity: Int(size)) { target, filled in
            status = unsafe bytes.withUnsafeBufferPointer { source in
                unsafe compress2(target.baseAddress, &size, source.baseAddress, uLong(source.count), 6)
            }
            filled = status == Z_OK ? Int(size) : 0
        }
        guard status == Z_OK else { throw MediaError(.io, "the PNG cannot be written: zlib error \(status)") }
        return result
    }

    private static func append(_ type: String, _ body: [UInt8], to png: inout [UInt8]) {
        let chunk = Array(type.utf8) + body
        png.append(uint32: UInt32(body.count))
        png += chunk
        let sum = unsafe chunk.withUnsafeBufferPointer { unsafe crc32(0, $0.baseAddress, uInt($0.count)) }
        png.append(uint32: UInt32(truncatingIfNeeded: sum))
    }
}

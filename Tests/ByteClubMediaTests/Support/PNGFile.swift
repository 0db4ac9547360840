import CZlib

@testable import ByteClubMedia

/// Reads PNG files back with zlib alone, checking every sum on the way.
struct PNGFile {
    struct Broken: Error {
        let reason: String
    }

    private(set) var types: [String] = []
    private(set) var width = 0
    private(set) var height = 0
    private var channels = 0
    private var data: [UInt8] = []

    init(_ bytes: [UInt8]) throws {
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else {
            throw Broken(reason: "signature")
        }
        var offset = 8
        while offset < bytes.count {
            let size = try Self.number(bytes, offset)
            guard offset + 12 + size <= bytes.count else { throw Broken(reason: "length") }
            let chunk = Array(bytes[offset + 4..<offset + 8 + size])
            let sum = unsafe chunk.withUnsafeBufferPointer { unsafe crc32(0, $0.baseAddress, uInt($0.count)) }
            guard Int(sum) == (try Self.number(bytes, offset + 8 + size)) else { throw Broken(reason: "sum") }
            let type = String(decoding: chunk[..<4], as: UTF8.self)
            types.append(type)
            if type == "IHDR" {
                width = try Self.number(chunk, 4)
                height = try Self.number(chunk, 8)
                channels = chunk[13] == 0 ? 1 : 3
            }
            if type == "IDAT" { data += chunk[4...] }
            offset += 12 + size
        }
    }

    func raster() throws -> Raster {
        let size = width * channels
        var length = uLong((size + 1) * height)
        var lines = [UInt8](repeating: 0, count: Int(length))
        let status = unsafe lines.withUnsafeMutableBufferPointer { target in
            unsafe data.withUnsafeBufferPointer { source in
                unsafe uncompress(target.baseAddress, &length, source.baseAddress, uLong(source.count))
            }
        }
        guard status == Z_OK, Int(length) == lines.count else { throw Broken(reason: "deflate") }
        var pixels: [UInt8] = []
        for row in 0..<height {
            guard lines[row * (size + 1)] == 4 else { throw Broken(reason: "filter") }
            for column in 0..<size {
                let here = pixels.count
                let a = column >= channels ? Int(pixels[here - channels]) : 0
                let b = row > 0 ? Int(pixels[here - size]) : 0
                let c = column >= channels && row > 0 ? Int(pixels[here - size - channels]) : 0
                let p = a + b - c
                let best = [a, b, c].min { abs(p - $0) < abs(p - $1) } ?? 0
                pixels.append(lines[row * (size + 1) + 1 + column] &+ UInt8(best))
            }
        }
        return Raster(width: width, height: height, channels: channels, pixels: pixels)
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) throws -> Int {
        guard let high = bytes.uint16(at: offset), let low = bytes.uint16(at: offset + 2) else {
            throw Broken(reason: "end")
        }
        return high << 16 | low
    }
}

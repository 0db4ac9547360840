import CZlib

/// PNG files made for a test.
enum MakingPNGs {
    /// A file of a colour type (ISO/IEC 15948, 11.2.2) whose pixels all have the same bytes.
    static func plain(
        width: Int = 40, height: Int = 20, type: UInt8, depth: UInt8 = 8, pixel: [UInt8],
        chunks: [(String, [UInt8])] = []
    ) -> [UInt8] {
        let count = depth < 8 ? (width * Int(depth) + 7) / 8 : width
        let line: [UInt8] = [0] + [[UInt8]](repeating: pixel, count: count).joined()
        let lines = [[UInt8]](repeating: line, count: height).joined()
        return file(
            width: width, height: height, type: type, depth: depth, lines: Array(lines),
            chunks: chunks)
    }

    static func file(
        width: Int, height: Int, type: UInt8, depth: UInt8, lines: [UInt8], chunks: [(String, [UInt8])] = []
    ) -> [UInt8] {
        let size = number(width) + number(height)
        var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let all = [("IHDR", size + [depth, type, 0, 0, 0])] + chunks + [("IDAT", deflated(lines)), ("IEND", [])]
        for (name, body) in all {
            let chunk = Array(name.utf8) + body
            let sum = unsafe chunk.withUnsafeBufferPointer { unsafe crc32(0, $0.baseAddress, uInt($0.count)) }
            png += number(body.count) + chunk + number(Int(sum))
        }
        return png
    }

    private static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var size = compressBound(uLong(bytes.count))
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(size)) { target, filled in
            _ = unsafe compress(target.baseAddress, &size, bytes, uLong(bytes.count))
            filled = Int(size)
        }
    }
}

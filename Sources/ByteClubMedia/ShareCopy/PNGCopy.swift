/// Copies what a decoder needs of a PNG file, chunk by chunk, bit for bit (PNG, third edition, 11).
enum PNGCopy {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The picture, its palette, transparency, colours and, where it moves, its frames; neither texts nor EXIF.
    private static let kept: Set<String> = [
        "IHDR", "PLTE", "IDAT", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "acTL", "fcTL",
        "fdAT",
    ]
    private static let pieceSize = 1 << 16

    static func isOne(_ source: borrowing some ByteSource & ~Copyable) throws(MediaError) -> Bool {
        try source.read(at: 0, count: signature.count) == signature
    }

    static func copy(
        _ source: borrowing some ByteSource & ~Copyable, _ write: ([UInt8]) throws(MediaError) -> Void
    ) throws(MediaError) {
        try write(signature)
        var offset = signature.count
        while true {
            let head = try source.read(at: offset, count: 8)
            guard let high = head.uint16(at: 0), let low = head.uint16(at: 2), head.count == 8 else {
                throw MediaError(.damaged, "the PNG ends before its picture does")
            }
            // Length, name and check sum stand around the data.
            let end = offset + 12 + (high << 16 | low)
            let name = String(decoding: head[4...], as: UTF8.self)
            if name == "IEND" { return try write([0, 0, 0, 0] + head[4...] + [0xAE, 0x42, 0x60, 0x82]) }
            guard end <= source.count else { throw MediaError(.damaged, "the PNG ends before its picture does") }
            if kept.contains(name) {
                while offset < end {
                    let piece = try source.read(at: offset, count: min(pieceSize, end - offset))
                    if piece.isEmpty { throw MediaError(.io, "the PNG became shorter") }
                    try write(piece)
                    offset += piece.count
                }
            }
            offset = end
        }
    }
}

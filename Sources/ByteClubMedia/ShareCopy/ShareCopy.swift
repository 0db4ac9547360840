/// Makes copies of photos to give away, without information about place, camera and photographer.
public enum ShareCopy {
    /// Writes a copy of a JPEG or PNG file that holds only what showing it needs.
    ///
    /// The copy is built from scratch: it gets the orientation, the panorama tags, the colour profile and, if wanted,
    /// the date, and the coded picture bit for bit. Everything else is left out: place, camera, owner, maker data,
    /// texts, comments, previews, and bytes after the picture. Of a PNG file the chunks with the picture and its
    /// colours are copied. The file appears whole or not at all, and is on disk when the call returns. `output` may
    /// name the same file.
    ///
    /// Blocks for storage; needs less than 1 MiB of memory whatever the photo's size.
    ///
    /// - Parameters:
    ///   - path: The photo.
    ///   - output: The file to write; its directory must exist.
    ///   - keepsDate: Whether the copy keeps the date of the photo.
    /// - Throws: `io`, `notAJPEG`, `damaged`, `unsupported`.
    public static func write(file path: String, to output: String, keepsDate: Bool) throws(MediaError) {
        let source = try FileSource(path: path)
        if try PNGDecoder.takes(source) {
            var file = try NewFile(path: output)
            try PNGCopy.copy(source) { (piece) throws(MediaError) in try file.append(piece) }
            return try file.finish()
        }
        let header = try JPEGHeader(source)
        var file = try NewFile(path: output)
        try copy(source, header, keepsDate: keepsDate) { (piece) throws(MediaError) in try file.append(piece) }
        try file.finish()
    }

    /// A copy of a JPEG or PNG file in memory that holds only what showing it needs, as ``write(file:to:keepsDate:)`` makes it.
    ///
    /// - Throws: `notAJPEG`, `damaged`, `unsupported`.
    public static func make(of photo: [UInt8], keepsDate: Bool) throws(MediaError) -> [UInt8] {
        let source = MemorySource(bytes: photo)
        var copy: [UInt8] = []
        copy.reserveCapacity(photo.count)
        if try PNGDecoder.takes(source) {
            try PNGCopy.copy(source) { copy += $0 }
            return copy
        }
        try self.copy(source, JPEGHeader(source), keepsDate: keepsDate) { copy += $0 }
        return copy
    }

    private static func copy(
        _ source: some ByteSource, _ header: JPEGHeader, keepsDate: Bool,
        to write: ([UInt8]) throws(MediaError) -> Void
    ) throws(MediaError) {
        try write([0xFF, 0xD8])
        let time = keepsDate ? try PhotoDetails(header, source, name: nil).time : nil
        try SharedMetadata(header: header, time: time).write(source, to: write)
        try PictureCopy.copy(source, write)
    }
}

/// Copies what a decoder needs of a PNG file, chunk by chunk, bit for bit (PNG, third edition, 11).
enum PNGCopy {
    /// The picture, its palette, transparency, colours and, where it moves, its frames; neither texts nor EXIF.
    private static let kept: Set<String> = [
        "IHDR", "PLTE", "IDAT", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "acTL", "fcTL",
        "fdAT",
    ]
    private static let pieceSize = 1 << 16

    static func copy(_ source: some ByteSource, _ write: ([UInt8]) throws(MediaError) -> Void) throws(MediaError) {
        try write(PNGDecoder.signature)
        var offset = PNGDecoder.signature.count
        while true {
            let head = try source.read(at: offset, count: 8)
            guard let length = head.uint32(at: 0), head.count == 8 else {
                throw MediaError(.damaged, "the PNG ends before its picture does")
            }
            // Length, name and check sum stand around the data.
            let end = offset + 12 + length
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

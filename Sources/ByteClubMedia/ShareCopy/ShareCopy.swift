/// Makes copies of photos to give away: the picture as it is, and nothing of where, with what and by whom it was taken.
public enum ShareCopy {
    /// Writes a copy of a JPEG or PNG file that holds only what showing it needs.
    ///
    /// The copy is built anew: the orientation, the panorama tags, the colour profile and, if wanted, the date go into
    /// it, and the coded picture bit for bit. Everything else stays behind: place, camera, owner, maker data, texts,
    /// comments, previews, and what follows the picture. Of a PNG file the chunks with the picture and its colours are
    /// copied. The file appears whole or not at all, and is on disk when the
    /// call returns. `output` may name the same file.
    ///
    /// Blocks for storage; takes less than 1 MiB of memory whatever the photo's size.
    ///
    /// - Parameters:
    ///   - path: The photo.
    ///   - output: The file to write; its directory must exist.
    ///   - keepsDate: Whether the copy says when the photo was taken.
    /// - Throws: `io`, `notAJPEG`, `damaged`, `unsupported`.
    public static func write(file path: String, to output: String, keepsDate: Bool) throws(MediaError) {
        let source = try FileSource(path: path)
        if try PNGCopy.isOne(source) {
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
        if try PNGCopy.isOne(source) {
            try PNGCopy.copy(source) { copy += $0 }
            return copy
        }
        try self.copy(source, JPEGHeader(source), keepsDate: keepsDate) { copy += $0 }
        return copy
    }

    private static func copy(
        _ source: borrowing some ByteSource & ~Copyable, _ header: JPEGHeader, keepsDate: Bool,
        to write: ([UInt8]) throws(MediaError) -> Void
    ) throws(MediaError) {
        try write([0xFF, 0xD8])
        let time = keepsDate ? try PhotoDetails(header, source, name: nil).time : nil
        try SharedMetadata(header: header, time: time).write(source, to: write)
        try PictureCopy.copy(source, write)
    }
}

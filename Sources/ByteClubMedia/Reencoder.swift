/// Makes a photo's file smaller by encoding its pixels again.
public enum Reencoder {
    /// Writes a photo again with another quality, size in pixels unchanged.
    ///
    /// EXIF (with the orientation), the standard XMP packets (with the panorama tags) and the colour profile are kept
    /// as they are; embedded previews, maker data outside EXIF and anything after the picture are not. The new file
    /// appears whole or not at all, and is on disk when the call returns. `output` may name the same file.
    ///
    /// Blocks for decoding and storage: call it on a thread of its own. It needs up to 512 MiB of memory.
    ///
    /// - Parameters:
    ///   - path: The photo.
    ///   - quality: The JPEG quality, clamped to 1...100.
    ///   - output: The file to write; its directory must exist.
    /// - Throws: `io`, `notAJPEG`, `damaged`, `unsupported`, and `tooLarge` before anything is decoded.
    public static func reencode(file path: String, quality: Int, to output: String) throws(MediaError) {
        let bytes = try reencoded(FileSource(path: path), quality: quality)
        try NewFile.write(bytes, to: output)
    }

    private static func reencoded(_ source: some ByteSource, quality: Int) throws(MediaError) -> [UInt8] {
        let header = try JPEGHeader(source)
        let budget = DecodeBudget()
        try budget.check(header, fileBytes: source.count, width: header.width, height: header.height)
        let exif = try header.exifRange.map { range throws(MediaError) in
            try source.read(at: range.lowerBound, count: range.count)
        }
        var xmp = Array(header.xmpPackets.prefix(header.standardPackets))
        // Of an extended packet, which may be longer than the photo, the panorama tags go along.
        if xmp.count < header.xmpPackets.count, let tags = SharedMetadata(header: header, time: nil).xmp {
            xmp.append(tags)
        }
        let metadata = CarriedMetadata(
            exif: exif, xmp: xmp, icc: try CarriedMetadata.profile(of: header, in: source))
        let decoder = try JPEGDecoder()
        let encoder = try JPEGEncoder()
        let raster = try decoder.decode(source.readAll(), header: header, budget: budget)
        return metadata.spliced(into: try encoder.encode(raster, quality: quality))
    }
}

/// Makes small pictures of photos.
public enum Thumbnail {
    /// Sources above this many bytes have no thumbnail, as in the Core API v1: 20 MiB.
    public static let largestSource = 20 << 20

    /// A thumbnail of a JPEG file that fits inside a box of pixels.
    ///
    /// The aspect ratio is kept and the picture never enlarged; the EXIF orientation is applied and the colour profile
    /// goes along. The same file and request give the same bytes. A photo with broken parts gives a thumbnail of what
    /// is there.
    ///
    /// Blocks for the decoding: call it on a thread of its own. It cannot be cancelled; it is bounded by 512 MiB of
    /// memory, 500 million pixels, and about a second for the scans that a progressive photo comes in.
    ///
    /// - Parameters:
    ///   - path: The photo.
    ///   - width: The box's width in pixels, at least 1.
    ///   - height: The box's height in pixels, at least 1.
    ///   - format: The thumbnail's file format.
    ///   - quality: The JPEG quality, clamped to 1...100; PNG ignores it.
    ///   - followsLinks: Whether a symbolic link at the path is followed; else it is an error.
    /// - Returns: The thumbnail's file.
    /// - Throws: `io`, `notAJPEG`, `damaged`, `unsupported`, and `tooLarge` before anything is decoded.
    public static func make(
        file path: String, width: Int, height: Int, format: ThumbnailFormat, quality: Int = 82,
        followsLinks: Bool = true
    ) throws(MediaError) -> [UInt8] {
        let source = try FileSource(path: path, followsLinks: followsLinks)
        return try make(source, width: width, height: height, format: format, quality: quality)
    }

    static func make(
        _ source: borrowing some ByteSource & ~Copyable, width: Int, height: Int, format: ThumbnailFormat, quality: Int
    ) throws(MediaError) -> [UInt8] {
        let header = try JPEGHeader(source)
        guard source.count <= largestSource else {
            throw MediaError(.tooLarge, "photos over \(largestSource >> 20) MiB have no thumbnail")
        }
        let orientation = Panorama(header: header).orientation
        let plan = ThumbnailPlan(header: header, orientation: orientation, box: (max(1, width), max(1, height)))
        let budget = DecodeBudget()
        try budget.check(
            header, fileBytes: source.count, width: JPEGDecoder.scaled(header.width, eighths: plan.eighths),
            height: JPEGDecoder.scaled(header.height, eighths: plan.eighths))
        let profile = try CarriedMetadata.profile(of: header, in: source)
        let decoder = try JPEGDecoder()
        let decoded = try decoder.decode(source.readAll(), header: header, eighths: plan.eighths, budget: budget)
        let small = decoded.resampled(width: plan.width, height: plan.height).oriented(orientation)
        switch format {
        case .jpeg:
            let encoder = try JPEGEncoder()
            let bytes = try encoder.encode(small, quality: quality)
            return CarriedMetadata(icc: profile).spliced(into: bytes)
        case .png:
            return try PNGEncoder.encode(small, icc: profile)
        }
    }
}

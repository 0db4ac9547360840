/// Makes small pictures of photos.
public enum Thumbnail {
    /// Sources above this many bytes have no thumbnail, as in the Core API v1: 20 MiB.
    public static let largestSource = 20 << 20

    /// A thumbnail of a JPEG or PNG file that fits inside a box of pixels.
    ///
    /// The aspect ratio is kept and the picture never enlarged; the EXIF orientation is applied and the colour profile
    /// goes along. The same file and request give the same bytes. A photo with broken parts gives a thumbnail of what
    /// is there. Where a photo holds a preview of itself that is large enough, the thumbnail is made of that. What of a
    /// PNG can be seen through lies on white.
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
        let box = (max(1, width), max(1, height))
        let small: Raster
        let profile: [UInt8]?
        var quality = min(max(quality, 1), 100)
        if try PNGDecoder.takes(source) {
            let bytes = try sourceBytes(source)
            let decoded = try PNGDecoder.decode(bytes)
            let plan = ThumbnailPlan(width: decoded.width, height: decoded.height, orientation: 1, box: box)
            small = decoded.resampled(width: plan.width, height: plan.height)
            profile = PNGDecoder.profile(bytes)
        } else {
            let header = try JPEGHeader(source)
            let orientation = Panorama(header: header).orientation
            let plan = ThumbnailPlan(width: header.width, height: header.height, orientation: orientation, box: box)
            try DecodeBudget().check(
                header, fileBytes: source.count, width: JPEGDecoder.scaled(header.width, eighths: plan.eighths),
                height: JPEGDecoder.scaled(header.height, eighths: plan.eighths))
            profile = try CarriedMetadata.profile(of: header, in: source)
            if let preview = try decodedPreview(of: header, in: source, plan: plan) {
                small = preview.resampled(width: plan.width, height: plan.height).oriented(orientation)
                // Its pixels have been through one encoder already; this makes up for what that cost.
                quality = min(quality + 2, max(quality, 95))
            } else {
                let decoder = try JPEGDecoder()
                let decoded = try decoder.decode(sourceBytes(source), header: header, eighths: plan.eighths)
                small = decoded.resampled(width: plan.width, height: plan.height).oriented(orientation)
            }
        }
        switch format {
        case .jpeg:
            let encoder = try JPEGEncoder()
            let bytes = try encoder.encode(small, quality: quality)
            return CarriedMetadata(icc: profile).spliced(into: bytes)
        case .png:
            return try PNGEncoder.encode(small, icc: profile)
        }
    }

    /// A whole file, unless it is above the limit.
    private static func sourceBytes(_ source: borrowing some ByteSource & ~Copyable) throws(MediaError) -> [UInt8] {
        guard source.count <= largestSource else {
            throw MediaError(.tooLarge, "photos over \(largestSource >> 20) MiB have no thumbnail")
        }
        return try source.readAll()
    }

    /// The pixels of a preview that suffices; nil without one, or when it is broken.
    private static func decodedPreview(
        of header: JPEGHeader, in source: borrowing some ByteSource & ~Copyable, plan: ThumbnailPlan
    ) throws(MediaError) -> Raster? {
        let target = (plan.width, plan.height)
        guard source.count <= largestSource,
            let (own, bytes) = try EmbeddedPreview.standIn(for: header, in: source, target: target)
        else { return nil }
        let decoder = try JPEGDecoder()
        let scale = ThumbnailPlan(width: own.width, height: own.height, orientation: 1, box: target).eighths
        return try? decoder.decode(bytes, header: own, eighths: scale)
    }
}

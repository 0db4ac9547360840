/// Makes small pictures of photos.
public enum Thumbnail {
    /// Sources above this many bytes have no thumbnail, as in the Core API v1: 20 MiB.
    public static let largestSource = 20 << 20

    /// A thumbnail of a JPEG or PNG file that fits inside a box of pixels.
    ///
    /// The aspect ratio is kept and the picture never enlarged; the EXIF orientation is applied and the colour profile
    /// kept. The same file and request give the same bytes. A photo with broken parts gives a thumbnail of the rest.
    /// Where a photo holds a preview of itself that is large enough, the thumbnail is made from that. Transparent parts
    /// of a PNG become white.
    ///
    /// Blocks for the decoding: call it on a thread of its own. It cannot be cancelled; it is bounded by 512 MiB of
    /// memory, 500 million pixels, and about a second for the scans of a progressive photo.
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
        _ source: some ByteSource, width: Int, height: Int, format: ThumbnailFormat, quality: Int
    ) throws(MediaError) -> [UInt8] {
        let isRGB = format == .png
        let photo = try FittedPhoto(
            source, box: (max(1, width), max(1, height)),
            options: .init(usesPreviews: true, isRGB: isRGB, largestSource: largestSource))
        switch (format, photo.pixels) {
        case (.png, .raster(let raster)):
            return try PNGEncoder.encode(raster, icc: photo.profile)
        case (_, let pixels):
            var quality = min(max(quality, 1), 100)
            // A preview's pixels have been through one encoder already; this makes up for what that cost.
            if photo.isOfPreview { quality = min(quality + 2, max(quality, 95)) }
            return try pixels.jpeg(JPEGEncoder(), quality: quality, profile: photo.profile)
        }
    }
}

/// The file formats a thumbnail can be made in.
public enum ThumbnailFormat: String, Sendable, Hashable, CaseIterable {
    /// Baseline JPEG with 4:2:0 sampling.
    case jpeg
    /// 8-bit PNG.
    case png
}

/// The sizes on the way from a photo to its thumbnail.
struct ThumbnailPlan: Sendable, Hashable {
    /// The thumbnail's size before the orientation is applied.
    let width: Int
    let height: Int
    /// The scale to decode a JPEG at: the smallest that still leaves the filter something to work on.
    let eighths: Int

    /// Fits a picture of a stored size, as seen, into the box, without enlarging it.
    ///
    /// `scales` are the eighths to choose from before the full size, the smallest first.
    init(
        width fullWidth: Int, height fullHeight: Int, orientation: Int, box: (width: Int, height: Int),
        scales: [Int] = []
    ) {
        let isTurned = orientation >= 5
        // No JPEG has a longer side, so a larger box changes little.
        let boxWidth = min(isTurned ? box.height : box.width, 65_535)
        let boxHeight = min(isTurned ? box.width : box.height, 65_535)
        if fullWidth <= boxWidth, fullHeight <= boxHeight {
            (width, height) = (fullWidth, fullHeight)
        } else if fullWidth * boxHeight >= fullHeight * boxWidth {
            (width, height) = (boxWidth, max(1, (fullHeight * boxWidth + fullWidth / 2) / fullWidth))
        } else {
            (width, height) = (max(1, (fullWidth * boxHeight + fullHeight / 2) / fullHeight), boxHeight)
        }
        let target = (width, height)
        eighths =
            scales.first { scale in
                Self.suffices(
                    (JPEGDecoder.scaled(fullWidth, eighths: scale), JPEGDecoder.scaled(fullHeight, eighths: scale)),
                    for: target)
            } ?? 8
    }

    /// Whether a picture of a size has what a smaller one needs: one and a half times its size.
    ///
    /// At 1.4 times, photos lose 0.4 dB against the filtering of the full size; at 1.5 nothing that can be measured.
    static func suffices(_ size: (width: Int, height: Int), for target: (width: Int, height: Int)) -> Bool {
        size.width * 2 >= target.width * 3 && size.height * 2 >= target.height * 3
    }
}

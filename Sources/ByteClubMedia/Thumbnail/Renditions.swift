/// Makes a photo's pictures in several sizes from one decoding.
public enum Renditions {
    /// JPEGs of a JPEG or PNG file, each with no side longer than its size.
    ///
    /// The aspect ratio is kept and no picture enlarged: for all sizes from the photo's own on, the picture is the
    /// same. The EXIF orientation is applied and the colour profile kept, nothing else. The photo's own pixels are
    /// used, never a preview; each picture is made from the next larger one where that has half as much again.
    ///
    /// Blocks for the decoding: call it on a thread of its own. It cannot be cancelled; it is bounded by 512 MiB of
    /// memory, which is computed before anything is decoded, 500 million pixels, and about a second for the scans of a
    /// progressive photo.
    ///
    /// - Parameters:
    ///   - path: The photo.
    ///   - sizes: The longest sides in pixels, each 1...65,500; others are clamped to that.
    ///   - quality: The JPEG quality, clamped to 1...100.
    /// - Returns: A JPEG file for each of `sizes`.
    /// - Throws: `io`, `notAJPEG`, `damaged`, `unsupported`, and `tooLarge` before anything is decoded.
    public static func make(file path: String, sizes: [Int], quality: Int = 82) throws(MediaError) -> [Int: [UInt8]] {
        try make(FileSource(path: path), sizes: sizes, quality: quality)
    }

    static func make(
        _ source: some ByteSource, sizes: [Int], quality: Int,
        budget: DecodeBudget = DecodeBudget()
    ) throws(MediaError) -> [Int: [UInt8]] {
        guard let largest = sizes.max() else { return [:] }
        let photo = try FittedPhoto(source, box: box(largest), options: .init(budget: budget))
        return try encoded(photo.pixels, sizes: sizes, quality: quality, profile: photo.profile)
    }

    /// Encodes a picture in all sizes, the largest of which it has.
    private static func encoded(
        _ picture: PhotoPixels, sizes: [Int], quality: Int, profile: [UInt8]?
    ) throws(MediaError) -> [Int: [UInt8]] {
        let encoder = try JPEGEncoder()
        var larger = picture
        var made: (width: Int, bytes: [UInt8])?
        var results: [Int: [UInt8]] = [:]
        for size in Set(sizes).sorted(by: >) {
            let (width, height) = picture.size
            let plan = ThumbnailPlan(width: width, height: height, orientation: 1, box: box(size))
            if let made, made.width == plan.width, larger.size.height == plan.height {
                results[size] = made.bytes
                continue
            }
            let isEnough = ThumbnailPlan.suffices(larger.size, for: (plan.width, plan.height))
            larger = (isEnough ? larger : picture).resampled(width: plan.width, height: plan.height)
            let bytes = try larger.jpeg(encoder, quality: quality, profile: profile)
            made = (plan.width, bytes)
            results[size] = bytes
        }
        return results
    }

    private static func box(_ size: Int) -> (width: Int, height: Int) {
        let side = min(max(1, size), 65_500)
        return (side, side)
    }
}
